/** `amble worker`: runs one more worker. */
import { type CommonOptions, configFor } from '../common-options.ts';
import { serve } from '../connect/session.ts';
import { type ExitCode, writeErr } from '../terminal.ts';

export async function workerCommand(options: CommonOptions): Promise<ExitCode> {
  const config = configFor(options);
  return serve(config, async ({ engines: { temporal } }) => {
    writeErr(
      `Worker ready: task queue ${config.taskQueue}, namespace ${temporal.namespace}, Temporal at ${temporal.address}. Press Ctrl-C to stop.`,
    );
    return async () => {};
  });
}
