/** The program as people run it: real processes from the build, in an installation of the test's own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { TuningChanges } from '../../src/config/index.ts';
import { packageRoot } from '../../src/core/package-root.ts';
import { findEngine } from '../../src/embedded/engine.ts';
import { startEngines } from '../../src/embedded/index.ts';
import { postgresEngine } from '../../src/embedded/postgres.ts';
import { temporalEngine } from '../../src/embedded/temporal.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { createTestHome } from '../support/test-home.ts';
import type { Run } from './run-amble.ts';
import { runInProcess } from './run-in-process.ts';

const PROGRAM = join(packageRoot, 'dist', 'src', 'cli.js');

export interface Ended {
  /** null: a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningProgram {
  /** undefined: it could not be started. */
  pid: number | undefined;
  ended: Promise<Ended>;
  /** What it has written so far. */
  output(): Pick<Ended, 'stdout' | 'stderr'>;
  /** The first match in its standard error, as soon as there is one. */
  waitForStderr(pattern: RegExp): Promise<RegExpMatchArray>;
  kill(signal: NodeJS.Signals): void;
}

export interface Installation {
  /** The value of every `--home`. */
  home: string;
  /** Where commands are run; its amble.config.json has the settings. */
  directory: string;
  start(...args: string[]): RunningProgram;
  /** Runs it to its end. */
  run(...args: string[]): Promise<Ended>;
  /** Runs a command that only reads, in the test's own process. */
  read(...args: string[]): Promise<Run>;
  /** Joins the engines as one more user, to inspect them. */
  look<T>(see: (inside: { db: Database; client: Client }) => Promise<T>): Promise<T>;
  /** Command lines of everything that runs on behalf of this home, each after its pid. */
  processes(): Promise<string[]>;
  /** Those the engines run on. */
  ports(): Promise<number[]>;
  /** Kills the engines ... */
  killEngines(): Promise<void>;
  /** ... or one of them. */
  killEngine(engine: 'postgres' | 'temporal'): Promise<void>;
  /** Ends what a failed test left running, and removes the files. */
  remove(): Promise<void>;
}

/** Short, because tests wait for it. */
const BRISK = { retry: { initialInterval: '500ms' } };
const SWEEP_INTERVAL_MS = 500;

/** How to pass tuning, which is not a setting, to the real program. */
export function tuningVariable(tuning: TuningChanges): Record<string, string> {
  return { AMBLE_TEST_TUNING: JSON.stringify(tuning) };
}

export async function createInstallation({
  settings = {},
  tuning = {},
  env = {},
}: {
  settings?: Record<string, unknown>;
  tuning?: TuningChanges;
  env?: Record<string, string>;
} = {}): Promise<Installation> {
  const home = await createTestHome();
  const directory = dirname(home.directory);
  const tuned = tuningVariable({
    ...tuning,
    crawl: { sweepIntervalMs: SWEEP_INTERVAL_MS, ...tuning.crawl },
  });
  await writeFile(join(directory, 'amble.config.json'), JSON.stringify({ ...BRISK, ...settings }));
  const place = { cwd: directory, env: { ...cleanEnvironment(), ...tuned, ...env } };
  const start = (command: string, ...args: string[]): RunningProgram =>
    startProgram(process.execPath, [PROGRAM, command, '--home', home.directory, ...args], place);
  return {
    home: home.directory,
    directory,
    start,
    run: (command, ...args) => start(command, ...args).ended,
    read: (command = '', ...args) => runInProcess([command, '--home', home.directory, ...args], place),
    look: (see) => lookInside(home.directory, see),
    processes: home.processes,
    ports: async () =>
      (await Promise.all([findEngine(temporalEngine(home)), findEngine(postgresEngine(home))])).flatMap(
        (engine) => engine?.ports ?? [],
      ),
    async killEngines() {
      const { temporal, postgres } = await home.pids();
      for (const pid of [temporal, postgres]) process.kill(pid, 'SIGKILL');
    },
    async killEngine(engine) {
      process.kill(await home.pidOf(engine), 'SIGKILL');
    },
    remove: home.remove,
  };
}

/** Without the settings of the user who runs the tests, except where to find the Temporal CLI. */
export function cleanEnvironment(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'XDG_CACHE_HOME', 'AMBLE_TEMPORAL_BINARY'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

export function startProgram(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: Record<string, string> },
): RunningProgram {
  if (!existsSync(PROGRAM)) throw new Error('The program is not built: run "npm run build" first.');
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  const ended = endOf(child, output);
  return {
    pid: child.pid,
    ended,
    output: () => output,
    waitForStderr: (pattern) =>
      new Promise((resolve, reject) => {
        const listen = () => {
          const match = output.stderr.match(pattern);
          if (match === null) return;
          child.stderr.off('data', listen);
          resolve(match);
        };
        child.stderr.on('data', listen);
        listen();
        ended.then(({ code, stderr }) => {
          reject(new Error(`It ended with ${code} and never wrote ${pattern}, but:\n${stderr}`));
        }, reject);
      }),
    kill: (signal) => {
      child.kill(signal);
    },
  };
}

function endOf(child: ChildProcess, output: { stdout: string; stderr: string }): Promise<Ended> {
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve({ code, ...output }));
  });
}

async function lookInside<T>(
  home: string,
  see: (inside: { db: Database; client: Client }) => Promise<T>,
): Promise<T> {
  const binary = process.env.AMBLE_TEMPORAL_BINARY;
  const engines = await startEngines({
    home,
    isolated: true,
    ...(binary !== undefined && { temporalBinary: binary }),
    notify: () => {},
  });
  const db = openDatabase(engines.databaseUrl);
  const connection = await Connection.connect({ address: engines.temporal.address });
  try {
    return await see({ db, client: new Client({ connection, namespace: engines.temporal.namespace }) });
  } finally {
    await Promise.all([db.$disconnect(), connection.close()]);
    await engines.stop();
  }
}

/** The options that make a web on loopback reachable under its own names. */
export function networkFlags(resolve: readonly string[]): string[] {
  return [...resolve.flatMap((entry) => ['--resolve', entry]), '--allow-network', '127.0.0.0/8'];
}

/** `--json`: the last line on standard output is one JSON object. */
export function lastLine(stdout: string): unknown {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

/** How often each word occurs. */
export function tally(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
