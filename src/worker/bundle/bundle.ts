/** The workflows as one file for the sandbox they run in: the same for the build and for the tests. */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** Built, or not yet, as this file is. */
const SANDBOX = fileURLToPath(new URL(`./sandbox${extname(import.meta.url)}`, import.meta.url));

export function bundleWorkflows(
  workflowsPath: string,
  interceptors: string[] = [],
): Promise<{ code: string }> {
  return bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: interceptors,
    // Loaded once for all workflows of a worker, instead of once for each: no module of ours keeps anything.
    preloadModules: [SANDBOX, workflowsPath],
    logger: new DefaultLogger('WARN'),
  });
}
