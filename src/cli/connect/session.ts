/** What a command works with: the engines, the database, a Temporal client, and a worker in this very process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { AmbleConfig } from '../../config/index.ts';
import { type Engines, startEngines } from '../../embedded/index.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import { claimPolitenessKey } from '../../storage/installation.ts';
import { connectTemporal } from '../../worker/temporal-connection.ts';
import type { RunningWorker } from '../../worker/worker.ts';
import { surviveBugs } from '../crash-handlers.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { aborted, type Interrupts, listenForInterrupts } from '../interrupts.ts';
import { type LogTo, openLog } from '../log.ts';
import { engineOptions } from './engine-options.ts';

export interface Session {
  engines: Engines;
  db: Database;
  client: Client;
  /** null: this command leaves the work to others. */
  worker: RunningWorker | null;
  /** Has this process answer for throttles, until the session ends: to steer a domain is no reason to crawl. */
  serveThrottles(logTo: LogTo): Promise<void>;
  /** Lets the worker finish what it holds, unless `atOnce` is aborted; then closes the rest. */
  close(atOnce?: AbortSignal): Promise<void>;
}

export interface SessionOptions {
  /** Where the worker of this process logs to; null: no worker. */
  worker: LogTo | null;
  /** Engines of its own, even if others are there to be joined. */
  isolated?: boolean;
  say(line: string): void;
}

/** For what is on its way out already when there is no time left. */
const AT_ONCE_MS = 500;

export async function openSession(config: AmbleConfig, options: SessionOptions): Promise<Session> {
  const closers: (() => Promise<unknown>)[] = [];
  /** In reverse: nothing is taken away from under its user. */
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const { isolated = false } = options;
    const engines = await startEngines({
      ...engineOptions(config, options.say),
      isolated,
      supervise: options.worker !== null,
    });
    closers.push(() => engines.stop());
    const db = openDatabase(engines.databaseUrl);
    closers.push(() => db.$disconnect());
    await claimPolitenessKey(db, config.politenessKey);
    const { address, namespace } = engines.temporal;
    const connection = await connectTemporal(address);
    closers.push(() => connection.close());
    const client = new Client({ connection, namespace });
    const employ = (logTo: LogTo, duties: { onlyThrottles: boolean }) =>
      startWorkerHere(config, engines, openLog(config, logTo), duties);
    const worker = options.worker ? await employ(options.worker, { onlyThrottles: false }) : null;
    return {
      engines,
      db,
      client,
      worker,
      async serveThrottles(logTo) {
        const helper = await employ(logTo, { onlyThrottles: true });
        closers.push(() => helper.stop());
      },
      async close(atOnce) {
        const now = atOnce === undefined ? [] : [aborted(atOnce)];
        if (worker) await Promise.race([worker.stop(), ...now]);
        // Engines of our own are told to stop even then, but not waited for.
        await Promise.race([closeAll(), ...now.map((one) => one.then(() => sleep(AT_ONCE_MS)))]);
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function startWorkerHere(
  config: AmbleConfig,
  { temporal: { address, namespace }, databaseUrl, moved }: Engines,
  log: Logger,
  { onlyThrottles }: { onlyThrottles: boolean },
): Promise<RunningWorker> {
  surviveBugs(log);
  // The larger half of the program: who mistyped an option, or only looks, does not wait for it.
  const { startWorker } = await import('../../worker/worker.ts');
  const temporal = { address, namespace };
  const worker = await startWorker({ config, temporal, databaseUrl, log, onlyThrottles });
  // Where its engines have gone it cannot follow.
  return { ...worker, failed: Promise.race([worker.failed, moved]) };
}

/** Opens a session, works in it and closes it in order, however the work ends. */
export async function withSession(
  config: AmbleConfig,
  options: SessionOptions,
  work: (session: Session, interrupts: Interrupts) => Promise<ExitCode>,
): Promise<ExitCode> {
  const interrupts = listenForInterrupts();
  // Until everything is up there is nothing to close in order.
  const giveUp = () => process.exit(EXIT.interrupted);
  interrupts.second.addEventListener('abort', giveUp);
  const session = await openSession(config, options);
  interrupts.second.removeEventListener('abort', giveUp);
  let code: ExitCode = EXIT.interrupted;
  try {
    if (!interrupts.first.aborted) code = await work(session, interrupts);
  } finally {
    await session.close(interrupts.second);
    interrupts.dispose();
  }
  return interrupts.second.aborted ? EXIT.interrupted : code;
}
