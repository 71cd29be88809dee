/** `amble worker`: one more pair of hands. */

import { serve } from '../connect/serve.ts';
import type { ExitCode } from '../exit.ts';
import { say } from '../render/terminal.ts';
import { type CommonOptions, configFor } from '../settings.ts';

export async function workerCommand(options: CommonOptions): Promise<ExitCode> {
  const config = configFor(options);
  return serve(config, async ({ engines: { temporal } }) => {
    say(
      `Worker ready on task queue ${config.taskQueue} of ${temporal.address} (${temporal.namespace}). Ctrl-C stops it.`,
    );
    return async () => {};
  });
}
