/** `amble worker`: runs one more worker. */
import { describeTemporal } from '../../temporal/explain.ts';
import { type CommonOptions, configForProcess } from '../common-options.ts';
import { serve } from '../connect/session.ts';
import { type ExitCode, writeErr } from '../terminal.ts';

export async function workerCommand(options: CommonOptions): Promise<ExitCode> {
  const config = configForProcess(options);
  const build = config.buildId === null ? '' : `, build ${config.buildId}`;
  return serve(config, async ({ engines: { temporal } }) => {
    writeErr(
      `Worker ready: task queue ${config.taskQueue}${build}, ${describeTemporal(temporal)}. Press Ctrl-C to stop.`,
    );
    return async () => {};
  });
}
