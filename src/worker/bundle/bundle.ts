/** Bundles the workflows into one file for Temporal's sandbox, for the build and for tests alike. */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** TypeScript or JavaScript, as this file is. */
const SANDBOX = fileURLToPath(new URL(`./sandbox${extname(import.meta.url)}`, import.meta.url));

export function bundleWorkflows(
  workflowsPath: string,
  interceptors: string[] = [],
): Promise<{ code: string }> {
  return bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: interceptors,
    // Loaded once for all workflows of a worker instead of once for each: our modules have no state.
    preloadModules: [SANDBOX, workflowsPath],
    logger: new DefaultLogger('WARN'),
  });
}
