/** `amble up`: engines and a worker that stay, and the addresses to reach them by. */
import type { AmbleConfig } from '../../config/index.ts';
import type { Engines } from '../../engines/index.ts';
import { takeUpForgotten } from '../crawls.ts';
import type { ExitCode } from '../exit.ts';
import { announceUp } from '../presence.ts';
import { serve } from '../serve.ts';
import { type CommonOptions, configFor } from '../settings.ts';
import { say } from '../terminal.ts';

export async function upCommand(options: CommonOptions): Promise<ExitCode> {
  const config = configFor(options);
  return serve(config, async ({ engines, client, db }) => {
    const presence = await announceUp(config.home);
    for (const line of addresses(config, engines)) say(line);
    for (const crawlId of await takeUpForgotten({ client, db, config })) {
      say(`Crawl ${crawlId} is unfinished and unknown to the Temporal server: taking it up where it stands.`);
    }
    return presence.withdraw;
  });
}

function addresses(config: AmbleConfig, { temporal, databaseUrl }: Engines): string[] {
  return [
    'Amble is up. Ctrl-C stops it.',
    `  Web UI      ${temporal.uiUrl ?? `that of ${temporal.address}`}`,
    `  Temporal    ${temporal.address}, namespace ${temporal.namespace}, task queue ${config.taskQueue}`,
    `  Database    ${withoutPassword(databaseUrl)}`,
    `  Data        ${config.home}`,
  ];
}

function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = '';
  return url.href;
}
