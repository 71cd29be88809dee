/** The workflows as one file for the sandbox they run in: the same for the build and for the tests. */
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

export function bundleWorkflows(
  workflowsPath: string,
  interceptors: string[] = [],
): Promise<{ code: string }> {
  return bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: interceptors,
    // Loaded once for all workflows of a worker, instead of once for each: no module of ours keeps anything.
    preloadModules: [workflowsPath],
    logger: new DefaultLogger('WARN'),
  });
}
