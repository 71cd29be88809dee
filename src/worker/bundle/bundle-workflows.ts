/** Build step: bundles the workflows, so that a worker need not run webpack, which takes seconds, at its start. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflows } from './bundle.ts';

const { code } = await bundleWorkflows(
  fileURLToPath(new URL('../../../workflows/index.js', import.meta.url)),
);
await writeFile(new URL('../../../workflow-bundle.js', import.meta.url), code);
