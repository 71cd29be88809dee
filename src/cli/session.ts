/** What a command works with: the engines, the database, a Temporal client, and a worker in this very process. */
import { Client, Connection } from '@temporalio/client';
import type { AmbleConfig } from '../config/index.ts';
import { type EngineOptions, type Engines, startEngines } from '../engines/index.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import { type RunningWorker, startWorker } from '../worker.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { aborted, type Interrupts, listenForInterrupts } from './interrupts.ts';
import { type LogTo, openLog } from './log.ts';

export interface Session {
  engines: Engines;
  db: Database;
  client: Client;
  /** null: this command leaves the work to others. */
  worker: RunningWorker | null;
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

export function engineOptions(config: AmbleConfig, say: (line: string) => void): EngineOptions {
  return {
    home: config.home,
    temporalNamespace: config.temporalNamespace,
    ...(config.temporalAddress !== null && { temporalAddress: config.temporalAddress }),
    ...(config.temporalBinary !== null && { temporalBinary: config.temporalBinary }),
    ...(config.databaseUrl !== null && { databaseUrl: config.databaseUrl }),
    say,
  };
}

export async function openSession(config: AmbleConfig, options: SessionOptions): Promise<Session> {
  const closers: (() => Promise<unknown>)[] = [];
  /** In reverse: nothing is taken away from under its user. */
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const { isolated = false } = options;
    const engines = await startEngines({ ...engineOptions(config, options.say), isolated });
    closers.push(() => engines.stop());
    const db = openDatabase(engines.databaseUrl);
    closers.push(() => db.$disconnect());
    const { address, namespace } = engines.temporal;
    const connection = await Connection.connect({ address });
    closers.push(() => connection.close());
    const client = new Client({ connection, namespace });
    const worker = options.worker
      ? await startWorker({
          config,
          temporal: { address, namespace },
          databaseUrl: engines.databaseUrl,
          log: openLog(config, options.worker),
        })
      : null;
    return {
      engines,
      db,
      client,
      worker,
      async close(atOnce) {
        if (worker) await Promise.race([worker.stop(), ...(atOnce ? [aborted(atOnce)] : [])]);
        await closeAll();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
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
  try {
    return interrupts.first.aborted ? EXIT.interrupted : await work(session, interrupts);
  } finally {
    await session.close(interrupts.second);
    interrupts.dispose();
  }
}
