/** `amble up`: engines and a worker that stay, and the addresses to reach them by. */

import type { AmbleConfig } from '../../config/index.ts';
import { messageOf } from '../../core/error-chain.ts';
import type { Engines } from '../../embedded/index.ts';
import { isDatabaseAway } from '../../storage/database-unavailable.ts';
import { isTemporalUnavailable } from '../../worker/temporal-connection.ts';
import { takeUpForgotten } from '../connect/crawls.ts';
import { announceUp } from '../connect/presence.ts';
import { patiently } from '../connect/retry-while-unavailable.ts';
import { serve } from '../connect/serve.ts';
import type { ExitCode } from '../exit.ts';
import { say } from '../render/terminal.ts';
import { type CommonOptions, configFor } from '../settings.ts';

export async function upCommand(options: CommonOptions): Promise<ExitCode> {
  const config = configFor(options);
  return serve(config, async ({ engines, client, db }) => {
    const presence = await announceUp(config.home);
    for (const line of addresses(config, engines)) say(line);
    const takeUp = async () => {
      for (const crawlId of await takeUpForgotten({ client, db, config }))
        say(
          `Crawl ${crawlId} is unfinished and unknown to the Temporal server: taking it up where it stands.`,
        );
    };
    await takeUp();
    const leaving = new AbortController();
    engines.onTemporalRestart(() => void takeUpPatiently(takeUp, leaving.signal));
    return async () => {
      leaving.abort();
      await presence.withdraw();
    };
  });
}

/** A server that was started again may have begun a new database, and its crawls would rest until somebody noticed. */
async function takeUpPatiently(takeUp: () => Promise<void>, enough: AbortSignal): Promise<void> {
  const isAway = (error: unknown) => isTemporalUnavailable(error) || isDatabaseAway(error);
  try {
    await patiently(takeUp, { what: 'The restarted Temporal server or Postgres', isAway, say, enough });
  } catch (error) {
    if (!enough.aborted)
      say(`Crawls that the restarted Temporal server may have lost were not taken up: ${messageOf(error)}`);
  }
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
