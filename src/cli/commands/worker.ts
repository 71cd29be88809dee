/** `amble worker`: one more pair of hands. */

import type { ExitCode } from '../exit.ts';
import { serve } from '../serve.ts';
import { type CommonOptions, configFor } from '../settings.ts';
import { say } from '../terminal.ts';

export async function workerCommand(options: CommonOptions): Promise<ExitCode> {
  const config = configFor(options);
  return serve(config, async ({ engines: { temporal } }) => {
    say(
      `Worker ready on task queue ${config.taskQueue} of ${temporal.address} (${temporal.namespace}). Ctrl-C stops it.`,
    );
    return async () => {};
  });
}
