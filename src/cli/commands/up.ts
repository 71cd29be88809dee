/** `amble up`: keeps engines and a worker running, and prints where to reach them. */
import type { AmbleConfig } from '../../config/index.ts';
import { messageOf } from '../../core/errors.ts';
import type { Engines } from '../../embedded/index.ts';
import { resumeForgottenCrawls } from '../../operator/start-crawl.ts';
import { assertSafe } from '../../server/safe-listen.ts';
import { isDatabaseUnavailable } from '../../storage/database-unavailable.ts';
import { isTemporalUnavailable } from '../../temporal/connection.ts';
import { type CommonOptions, configForProcess } from '../common-options.ts';
import { announceUp } from '../connect/background.ts';
import { serveDashboard } from '../connect/dashboard.ts';
import { retryWhileUnavailable } from '../connect/retry-while-unavailable.ts';
import { serve } from '../connect/session.ts';
import { type ExitCode, writeErr } from '../terminal.ts';

export interface UpOptions extends CommonOptions {
  listen?: string;
}

export async function upCommand({ listen, ...options }: UpOptions): Promise<ExitCode> {
  const config = configForProcess(options, { listen });
  // Bad input is refused before anything is started.
  assertSafe(config);
  return serve(config, async (session) => {
    const { engines, client, db } = session;
    const withdraw = await announceUp(config.home);
    for (const line of addressLines(config, engines)) writeErr(line);
    const server = await serveDashboard(config, session);
    const resume = async () => {
      for (const crawlId of await resumeForgottenCrawls({ client, db, config }))
        writeErr(
          `Resuming crawl ${crawlId}: it is unfinished, and the Temporal server has no workflow for it.`,
        );
    };
    await resume();
    const leaving = new AbortController();
    engines.onTemporalRestart(() => void resumeAfterRestart(resume, leaving.signal));
    return async (immediately) => {
      leaving.abort();
      await server?.stop(immediately);
      await withdraw();
    };
  });
}

/** A restarted server may have lost its data; without this, its crawls would stop unnoticed. */
async function resumeAfterRestart(resume: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const isUnavailable = (error: unknown) => isTemporalUnavailable(error) || isDatabaseUnavailable(error);
  try {
    await retryWhileUnavailable(resume, {
      what: 'Temporal or Postgres',
      isUnavailable,
      log: writeErr,
      signal,
    });
  } catch (error) {
    if (!signal.aborted)
      writeErr(
        `Could not resume the crawls that the restarted Temporal server may have lost: ${messageOf(error)}`,
      );
  }
}

function addressLines(config: AmbleConfig, { temporal, databaseUrl }: Engines): string[] {
  const profile = temporal.access?.profile;
  return [
    'Amble is up. Press Ctrl-C to stop it.',
    `  Web UI      ${temporal.uiUrl ?? `the one of the Temporal server at ${temporal.address}`}`,
    `  Temporal    ${temporal.address}, namespace ${temporal.namespace}${profile ? `, profile ${profile}` : ''}, task queue ${config.taskQueue}`,
    `  Database    ${withoutPassword(databaseUrl)}`,
    `  Data        ${config.home}`,
  ];
}

function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = '';
  return url.href;
}
