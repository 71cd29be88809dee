/** What a command that starts things works with: engines, database, Temporal client, and a worker in this process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import type { AmbleConfig } from '../../config/index.ts';
import { passwordsOf } from '../../core/redact.ts';
import { type Engines, startEngines } from '../../embedded/index.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import { claimPolitenessKey } from '../../storage/installation.ts';
import { connectTemporal } from '../../temporal/connection.ts';
import type { RunningWorker } from '../../worker/worker.ts';
import { aborted, type Interrupts, listenForInterrupts } from '../interrupts.ts';
import { EXIT, type ExitCode, redactor, writeErr } from '../terminal.ts';
import { startLocalWorker } from './local-worker.ts';
import type { LogDestination } from './open-log.ts';
import { announceTemporal, engineOptions } from './temporal-client.ts';

export interface Session {
  engines: Engines;
  db: Database;
  client: Client;
  /** null: this command leaves the work to other processes. */
  worker: RunningWorker | null;
  /** Runs throttles in this process until the session ends, without crawling anything. */
  serveThrottles(logTo: LogDestination): Promise<void>;
  /** Lets the worker finish its activities, unless `immediately` is aborted, then closes the rest. */
  close(immediately?: AbortSignal): Promise<void>;
}

export interface SessionOptions {
  /** Where the worker of this process logs; null: no worker. */
  worker: LogDestination | null;
  /** Start engines of its own even if others could be joined. */
  isolated?: boolean;
  /** The worker serves metrics and health. */
  endpoints?: boolean;
}

/** Time for the engines to receive their stop signal if their end is not waited for. */
const IMMEDIATE_STOP_MS = 500;

export async function openSession(config: AmbleConfig, options: SessionOptions): Promise<Session> {
  const closers: (() => Promise<unknown>)[] = [];
  /** In reverse order, so that nothing is closed while something else uses it. */
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const engines = await startEngines({
      ...engineOptions(config, writeErr),
      isolated: options.isolated ?? false,
      supervise: options.worker !== null,
    });
    closers.push(() => engines.stop());
    redactor.add(passwordsOf(engines.databaseUrl));
    const db = openDatabase(engines.databaseUrl, { forReports: true });
    closers.push(() => db.$disconnect());
    await claimPolitenessKey(db, config.politenessKey);
    const { temporal } = engines;
    announceTemporal(config, temporal);
    const connection = await connectTemporal(temporal);
    closers.push(() => connection.close());
    const client = new Client({ connection, namespace: temporal.namespace });
    const worker =
      options.worker &&
      (await startLocalWorker(config, engines, {
        logTo: options.worker,
        onlyThrottles: false,
        endpoints: options.endpoints ?? false,
      }));
    return {
      engines,
      db,
      client,
      worker,
      async serveThrottles(logTo) {
        const throttleWorker = await startLocalWorker(config, engines, { logTo, onlyThrottles: true });
        closers.push(() => throttleWorker.stop());
      },
      async close(immediately) {
        const now = immediately === undefined ? [] : [aborted(immediately)];
        if (worker) await Promise.race([worker.stop(), ...now]);
        // Even then our own engines get their stop signal, but are not waited for.
        await Promise.race([closeAll(), ...now.map((one) => one.then(() => sleep(IMMEDIATE_STOP_MS)))]);
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Opens a session, works in it, and closes it in order however the work ends. */
export async function withSession(
  config: AmbleConfig,
  options: SessionOptions,
  work: (session: Session, interrupts: Interrupts) => Promise<ExitCode>,
): Promise<ExitCode> {
  const interrupts = listenForInterrupts();
  // Until the session is open there is nothing to close in order.
  const exit = () => process.exit(EXIT.interrupted);
  interrupts.second.addEventListener('abort', exit);
  const session = await openSession(config, options);
  interrupts.second.removeEventListener('abort', exit);
  let code: ExitCode = EXIT.interrupted;
  try {
    if (!interrupts.first.aborted) code = await work(session, interrupts);
  } finally {
    await session.close(interrupts.second);
    interrupts.dispose();
  }
  return interrupts.second.aborted ? EXIT.interrupted : code;
}

/**
 * Runs a worker until Ctrl-C. `onReady` is called once the worker runs; what it returns is called at the end, with a signal that is
 * aborted if that must not take long.
 */
export async function serve(
  config: AmbleConfig,
  onReady: (session: Session) => Promise<(immediately: AbortSignal) => Promise<void>>,
): Promise<ExitCode> {
  return withSession(config, { worker: 'stderr', endpoints: true }, async (session, interrupts) => {
    const cleanUp = await onReady(session);
    try {
      const stopped = aborted(interrupts.first);
      await (session.worker ? Promise.race([stopped, session.worker.failed]) : stopped);
      writeErr('Stopping: waiting for fetches in progress. Press Ctrl-C again to stop immediately.');
      return EXIT.ok;
    } finally {
      await cleanUp(interrupts.second);
    }
  });
}
