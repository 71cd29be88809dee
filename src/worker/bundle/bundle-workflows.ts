/** Bundles the workflows once, at build time: a worker then starts without waiting seconds for webpack. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflows } from './bundle.ts';

const { code } = await bundleWorkflows(
  fileURLToPath(new URL('../../../workflows/index.js', import.meta.url)),
);
await writeFile(new URL('../../../workflow-bundle.js', import.meta.url), code);
