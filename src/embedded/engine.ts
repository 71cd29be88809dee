/**
 * An engine as a process: started so that it outlives whoever started it, found again by what it is, stopped until it is
 * gone. What kind of engine it is (temporal.ts, postgres.ts) comes in as an EngineKind.
 */
import { spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { choosePorts } from './ports.ts';
import { commandLineOf } from './process-table.ts';

/** What it takes to find an engine and to stop it. */
export interface EngineIdentity {
  name: string;
  /** File in which the running engine's pid and ports stand. */
  record: string;
  /** Part of the command line of this engine and of no other program. */
  marker: string;
  /** What to send to stop it, gentlest first, each with the time it has to work. */
  stopSequence: readonly { signal: NodeJS.Signals; waitMs: number }[];
}

/** What it takes to run one. */
export interface EngineSpec extends EngineIdentity {
  log: string;
  portCount: number;
  command(ports: readonly number[]): Promise<Command>;
  /** Whether it serves requests on these ports. Never throws. */
  isReady(ports: readonly number[]): Promise<boolean>;
  /** What a person can do when it does not start. */
  remedy: string;
  /** Said by one that will not start however often it is tried. */
  unrecoverable?: RegExp;
}

export interface Command {
  argv: readonly string[];
  /** Unset: as ourselves. */
  user?: { uid: number; gid: number };
  /** Beside what this process has. */
  env?: Record<string, string>;
}

export class EngineStartError extends Error {
  override name = 'EngineDidNotStart';

  constructor(
    { name, remedy: cure, log }: EngineSpec,
    /** The last lines of its log. */
    readonly logTail: string,
  ) {
    super(`${name} did not start. ${cure} Its log, ${log}, ends:\n${logTail}`);
  }
}

export interface RunningEngine {
  pid: number;
  ports: number[];
}

const POLL_MS = 50;
/** Crash recovery of a large database takes its time; a hung engine is replaced after this. */
const READY_WITHIN_MS = 60_000;
/** A port may be taken between its choice and its use, and what is left of a killed Postgres is in the way for a moment. */
const START_ATTEMPTS = 5;
const PAUSE_BETWEEN_ATTEMPTS_MS = 500;

/** The ports of this engine, which runs and answers when this returns. */
export async function ensureRunning(kind: EngineSpec): Promise<number[]> {
  const running = await findEngine(kind);
  if (running !== null) {
    if ((await waitUntilReady(kind, running)) === 'ready') return running.ports;
    await stopEngine(kind);
  }
  let said = '';
  for (let attempt = 1; attempt <= START_ATTEMPTS; attempt++) {
    const ports = await choosePorts(kind.portCount, (await readRecord(kind.record))?.ports ?? []);
    const { pid, logStart } = await launch(kind, ports);
    const state = await waitUntilReady(kind, { pid, ports });
    if (state === 'ready') return ports;
    said = await tail(kind.log, logStart);
    if (kind.unrecoverable?.test(said)) break;
    if (state === 'deaf') {
      await stopEngine(kind);
      break;
    }
    await sleep(PAUSE_BETWEEN_ATTEMPTS_MS);
  }
  throw new EngineStartError(kind, said);
}

/** Stops it if it runs, and returns when it is gone. */
export async function stopEngine(kind: EngineIdentity): Promise<void> {
  const running = await findEngine(kind);
  if (running === null) return;
  for (const { signal, waitMs } of kind.stopSequence) {
    try {
      process.kill(running.pid, signal);
    } catch {
      // It went on its own just now, which the next look shows.
    }
    if (await exitsWithin(kind, running.pid, waitMs)) return;
  }
  throw new Error(`${kind.name} (pid ${running.pid}) does not stop: end it by hand.`);
}

export async function isRunning(kind: EngineIdentity): Promise<boolean> {
  return (await findEngine(kind)) !== null;
}

/** With the ports it was started on, whether it answers there yet or not; null: it does not run. */
export async function findEngine(kind: EngineIdentity): Promise<RunningEngine | null> {
  const record = await readRecord(kind.record);
  return record !== null && (await isThisEngine(kind, record.pid)) ? record : null;
}

async function isThisEngine(kind: EngineIdentity, pid: number): Promise<boolean> {
  return (await commandLineOf(pid))?.includes(kind.marker) ?? false;
}

/**
 * The shell writes its own pid into the record and then becomes the engine: there is no moment at which the engine runs
 * and is not on record, whenever the process that starts it is killed.
 */
async function launch(
  kind: EngineSpec,
  ports: readonly number[],
): Promise<{ pid: number; logStart: number }> {
  const { argv, user, env } = await kind.command(ports);
  const [record, log] = await Promise.all([open(kind.record, 'w', 0o600), open(kind.log, 'a', 0o600)]);
  try {
    const logStart = (await log.stat()).size;
    const script = 'umask 077; echo "$$ $0" >&3; exec "$@" 3>&-';
    const engine = spawn('/bin/sh', ['-c', script, ports.join(' '), ...argv], {
      // A session of its own: Ctrl-C in the terminal is not for the engine.
      detached: true,
      stdio: ['ignore', log.fd, log.fd, record.fd],
      ...(env && { env: { ...process.env, ...env } }),
      ...user,
    });
    await new Promise<void>((resolve, reject) => engine.once('spawn', resolve).once('error', reject));
    engine.unref();
    if (engine.pid === undefined) throw new Error(`${kind.name} was started without a process id.`);
    return { pid: engine.pid, logStart };
  } finally {
    await Promise.all([record.close(), log.close()]);
  }
}

async function waitUntilReady(
  kind: EngineSpec,
  { pid, ports }: RunningEngine,
): Promise<'ready' | 'ended' | 'deaf'> {
  const giveUpAt = performance.now() + READY_WITHIN_MS;
  while (performance.now() < giveUpAt) {
    if (!(await isThisEngine(kind, pid))) return 'ended';
    if (await kind.isReady(ports)) return 'ready';
    await sleep(POLL_MS);
  }
  return 'deaf';
}

async function exitsWithin(kind: EngineIdentity, pid: number, ms: number): Promise<boolean> {
  const giveUpAt = performance.now() + ms;
  while (await isThisEngine(kind, pid)) {
    if (performance.now() > giveUpAt) return false;
    await sleep(POLL_MS);
  }
  return true;
}

async function readRecord(file: string): Promise<RunningEngine | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const [pid, ...ports] = text.trim().split(' ').map(Number);
  return pid && ports.every(Number.isInteger) ? { pid, ports } : null;
}

async function tail(log: string, from: number): Promise<string> {
  const text = (await readFile(log)).subarray(from).toString('utf8');
  return text.trimEnd().split('\n').slice(-15).join('\n');
}
