/** The workflows' code as the sources have it now, which may be ahead of the build. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflows } from '../../src/worker/bundle/bundle.ts';

export function bundleSources(interceptors: string[] = []): Promise<{ code: string }> {
  return bundleWorkflows(fileURLToPath(new URL('../../workflows/index.ts', import.meta.url)), interceptors);
}
