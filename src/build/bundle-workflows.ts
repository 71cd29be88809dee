/** Bundles the workflows once, at build time: a worker then starts without waiting seconds for webpack. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const workflowsPath = fileURLToPath(new URL('../../workflows/index.js', import.meta.url));
const { code } = await bundleWorkflowCode({
  workflowsPath,
  preloadModules: [workflowsPath],
  logger: new DefaultLogger('WARN'),
});
await writeFile(new URL('../../workflow-bundle.js', import.meta.url), code);
