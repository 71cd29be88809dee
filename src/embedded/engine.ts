/**
 * Runs an embedded engine as a process: started detached so that it outlives its starter, recognised by its command line,
 * and stopped by signals until it has exited. An EngineSpec describes the engine (temporal.ts, postgres.ts).
 */
import { spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { choosePorts } from './ports.ts';
import { commandLineOf } from './process-table.ts';

/** What is needed to find and stop an engine. */
export interface EngineIdentity {
  name: string;
  /** File that holds the running engine's pid and ports. */
  record: string;
  /** Occurs in this engine's command line and in no other. */
  marker: string;
  /** Signals to send, gentlest first, each with the time it has to take effect. */
  stopSequence: readonly { signal: NodeJS.Signals; waitMs: number }[];
}

/** What is needed to run one. */
export interface EngineSpec extends EngineIdentity {
  log: string;
  portCount: number;
  command(ports: readonly number[]): Promise<Command>;
  /** Whether it accepts requests on these ports. Never throws. */
  isReady(ports: readonly number[]): Promise<boolean>;
  /** What the user can do if it does not start. */
  remedy: string;
  /** Matches the log of an engine that will not start, however often it is tried. */
  unrecoverable?: RegExp;
}

export interface Command {
  argv: readonly string[];
  /** Unset: that of this process. */
  cwd?: string;
  /** Unset: the user of this process. */
  user?: { uid: number; gid: number };
  /** In addition to this process's environment. */
  env?: Record<string, string>;
}

export class EngineStartError extends Error {
  override name = 'EngineStartError';

  constructor(
    { name, remedy, log }: EngineSpec,
    readonly logTail: string,
  ) {
    super(`${name} did not start. ${remedy} The end of its log, ${log}:\n${logTail}`);
  }
}

export interface RunningEngine {
  pid: number;
  ports: number[];
}

const POLL_INTERVAL_MS = 50;
/** Long enough for crash recovery of a large database; an engine that is not ready by then is replaced. */
const READY_TIMEOUT_MS = 60_000;
/** Another process may take a port before the engine does, and the children of a killed Postgres need a moment to exit. */
const MAX_START_ATTEMPTS = 5;
const DELAY_BETWEEN_ATTEMPTS_MS = 500;

/** Starts the engine unless it is running. Returns its ports once it is ready. */
export async function ensureRunning(spec: EngineSpec): Promise<number[]> {
  const running = await findEngine(spec);
  if (running !== null) {
    if ((await waitUntilReady(spec, running)) === 'ready') return running.ports;
    await stopEngine(spec);
  }
  let logTail = '';
  for (let attempt = 1; attempt <= MAX_START_ATTEMPTS; attempt++) {
    const ports = await choosePorts(spec.portCount, (await readRecord(spec.record))?.ports ?? []);
    const { pid, logStart } = await launch(spec, ports);
    const state = await waitUntilReady(spec, { pid, ports });
    if (state === 'ready') return ports;
    logTail = await readTail(spec.log, logStart);
    if (spec.unrecoverable?.test(logTail)) break;
    if (state === 'unresponsive') {
      await stopEngine(spec);
      break;
    }
    await sleep(DELAY_BETWEEN_ATTEMPTS_MS);
  }
  throw new EngineStartError(spec, logTail);
}

/** Returns when the engine, if it was running, has exited. */
export async function stopEngine(spec: EngineIdentity): Promise<void> {
  const running = await findEngine(spec);
  if (running === null) return;
  for (const { signal, waitMs } of spec.stopSequence) {
    try {
      process.kill(running.pid, signal);
    } catch {
      // It has exited in the meantime, which the next check notices.
    }
    if (await exitsWithin(spec, running.pid, waitMs)) return;
  }
  throw new Error(`${spec.name} (pid ${running.pid}) did not stop. Kill it by hand.`);
}

export async function isRunning(spec: EngineIdentity): Promise<boolean> {
  return (await findEngine(spec)) !== null;
}

/** The running engine, ready or not; null if it is not running. */
export async function findEngine(spec: EngineIdentity): Promise<RunningEngine | null> {
  const record = await readRecord(spec.record);
  return record !== null && (await isThisEngine(spec, record.pid)) ? record : null;
}

async function isThisEngine(spec: EngineIdentity, pid: number): Promise<boolean> {
  return (await commandLineOf(pid))?.includes(spec.marker) ?? false;
}

/**
 * The shell writes its own pid into the record and then replaces itself by the engine. So a running engine is always on
 * record, whenever its starter is killed.
 */
async function launch(
  spec: EngineSpec,
  ports: readonly number[],
): Promise<{ pid: number; logStart: number }> {
  const { argv, cwd, user, env } = await spec.command(ports);
  const [record, log] = await Promise.all([open(spec.record, 'w', 0o600), open(spec.log, 'a', 0o600)]);
  try {
    const logStart = (await log.stat()).size;
    const script = 'umask 077; echo "$$ $0" >&3; exec "$@" 3>&-';
    const engine = spawn('/bin/sh', ['-c', script, ports.join(' '), ...argv], {
      // A new session: Ctrl-C in the terminal must not reach the engine.
      detached: true,
      stdio: ['ignore', log.fd, log.fd, record.fd],
      ...(env && { env: { ...process.env, ...env } }),
      ...(cwd !== undefined && { cwd }),
      ...user,
    });
    await new Promise<void>((resolve, reject) => engine.once('spawn', resolve).once('error', reject));
    engine.unref();
    if (engine.pid === undefined) throw new Error(`${spec.name} was started without a process id.`);
    return { pid: engine.pid, logStart };
  } finally {
    await Promise.all([record.close(), log.close()]);
  }
}

async function waitUntilReady(
  spec: EngineSpec,
  { pid, ports }: RunningEngine,
): Promise<'ready' | 'exited' | 'unresponsive'> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (!(await isThisEngine(spec, pid))) return 'exited';
    if (await spec.isReady(ports)) return 'ready';
    await sleep(POLL_INTERVAL_MS);
  }
  return 'unresponsive';
}

async function exitsWithin(spec: EngineIdentity, pid: number, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (await isThisEngine(spec, pid)) {
    if (performance.now() > deadline) return false;
    await sleep(POLL_INTERVAL_MS);
  }
  return true;
}

async function readRecord(file: string): Promise<RunningEngine | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const [pid, ...ports] = text.trim().split(' ').map(Number);
  return pid && ports.every(Number.isInteger) ? { pid, ports } : null;
}

async function readTail(log: string, from: number): Promise<string> {
  const text = (await readFile(log)).subarray(from).toString('utf8');
  return text.trimEnd().split('\n').slice(-15).join('\n');
}
