/** The workflows' code as the sources have it now, which may be ahead of the build. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

export function bundleSources(interceptors: string[] = []): Promise<{ code: string }> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../workflows/index.ts', import.meta.url)),
    workflowInterceptorModules: interceptors,
    logger: new DefaultLogger('WARN'),
  });
}
