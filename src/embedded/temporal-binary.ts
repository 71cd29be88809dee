/** A `temporal` program: one that is there already, else one that is fetched or built once and kept in Amble's cache. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import which from 'which';
import { messageOf } from '../core/error-chain.ts';
import { packageRoot } from '../core/package-root.ts';

const run = promisify(execFile);

/** Server 1.29.1. Newer versions cannot be built with `go install`. */
const VERSION = '1.5.1';
const GO_MODULE = 'github.com/temporalio/cli/cmd/temporal';
/** The first server with update-with-start for everybody. */
const OLDEST_SERVER = { major: 1, minor: 28 };

const VERSION_WITHIN_MS = 20_000;
const DOWNLOAD_WITHIN_MS = 5 * 60_000;
const BUILD_WITHIN_MS = 30 * 60_000;

export async function findTemporalBinary(
  configured: string | undefined,
  notify: (line: string) => void,
): Promise<string> {
  if (configured !== undefined) {
    if ((await serverVersionOf(configured)) !== null) return configured;
    throw new Error(
      `The configured Temporal program ${configured} does not run: give the path of a Temporal CLI.`,
    );
  }
  const cached = join(cacheDirectory(), `temporal-${VERSION}`, 'temporal');
  for (const program of ['temporal', cached]) {
    const candidate = await which(program, { nothrow: true });
    if (candidate === null) continue;
    const version = await serverVersionOf(candidate);
    if (version !== null && isRecent(version)) return candidate;
    notify(
      `Not using ${candidate}: ${version === null ? 'it does not run' : `its server ${version} is too old`}`,
    );
  }
  const failures: string[] = [];
  for (const [name, obtain] of [
    ['download', download],
    ['go install', build],
  ] as const) {
    try {
      await intoCache(cached, (workshop) => obtain(workshop, notify));
      return cached;
    } catch (error) {
      failures.push(`${name}: ${reasonOf(error)}`);
    }
  }
  throw new Error(
    `There is no Temporal CLI here, and none could be fetched (${failures.join('; ')}): install it from https://docs.temporal.io/cli or install Go, or set TEMPORAL_ADDRESS to a server that runs.`,
  );
}

/** `temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)`: the server's part; null when it is not such a program. */
async function serverVersionOf(program: string): Promise<string | null> {
  try {
    const { stdout } = await run(program, ['--version'], { timeout: VERSION_WITHIN_MS });
    return /Server (\d+\.\d+[^,)\s]*)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST_SERVER.major || (major === OLDEST_SERVER.major && minor >= OLDEST_SERVER.minor);
}

function cacheDirectory(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'amble');
}

/**
 * Obtained in a directory of its own and renamed into place: a kill half-way leaves no broken program, and of two
 * processes that do it at once the later one wins.
 */
async function intoCache(target: string, obtain: (workshop: string) => Promise<string>): Promise<void> {
  const directory = join(target, '..');
  await mkdir(directory, { recursive: true });
  const workshop = await mkdtemp(join(directory, 'unfinished-'));
  try {
    await rename(await obtain(workshop), target);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

/**
 * The SDK downloads only to start a server, and in a process of its own: it would otherwise set up the SDK's one runtime
 * here, before the worker that has its own wishes for it.
 */
async function download(workshop: string, notify: (line: string) => void): Promise<string> {
  notify('Downloading the Temporal CLI, once');
  const script = `
    const { TestWorkflowEnvironment } = await import('@temporalio/testing');
    const executable = { type: 'cached-download', downloadDir: ${JSON.stringify(workshop)}, version: 'v${VERSION}' };
    try {
      const environment = await TestWorkflowEnvironment.createLocal({ server: { executable } });
      await environment.teardown();
    } catch (error) {
      console.error(error.message);
      process.exit(1);
    }`;
  await run(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: packageRoot,
    timeout: DOWNLOAD_WITHIN_MS,
    killSignal: 'SIGKILL',
  });
  const [file] = await readdir(workshop);
  if (file === undefined) throw new Error('the SDK left no program behind');
  return join(workshop, file);
}

async function build(workshop: string, notify: (line: string) => void): Promise<string> {
  const go = await which('go', { nothrow: true });
  if (go === null) throw new Error('Go is not installed');
  notify('Building the Temporal CLI with go install: 3 to 4 minutes, once');
  await run(go, ['install', `${GO_MODULE}@v${VERSION}`], {
    cwd: workshop,
    env: { ...process.env, GOBIN: workshop },
    timeout: BUILD_WITHIN_MS,
    maxBuffer: 64 * 1024 * 1024,
  });
  return join(workshop, 'temporal');
}

/** The last thing a failed program said. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const message = messageOf(error);
  return (text || message).split('\n').at(-1) ?? message;
}
