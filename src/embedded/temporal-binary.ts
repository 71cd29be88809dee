/** Finds the Temporal CLI: the configured one, one on PATH, or one downloaded or built once into Amble's cache. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import which from 'which';
import { messageOf } from '../core/errors.ts';
import { packageRoot } from '../core/package-root.ts';

const run = promisify(execFile);

/** Brings server 1.29.1. Newer versions cannot be built from the Go module proxy. */
const VERSION = '1.5.1';
const GO_PACKAGE = 'github.com/temporalio/cli/cmd/temporal';
/**
 * In the version that the CLI asks for, a query that is cancelled at the wrong moment makes all later ones fail with "interrupted (9)",
 * and the server never recovers (temporalio/temporal, pull request 9198).
 */
const SQLITE = 'modernc.org/sqlite@v1.44.3';
/** The first server on which update-with-start is enabled by default. */
const MIN_SERVER = { major: 1, minor: 28 };

const VERSION_TIMEOUT_MS = 20_000;
const DOWNLOAD_TIMEOUT_MS = 5 * 60_000;
const BUILD_TIMEOUT_MS = 30 * 60_000;

export async function findTemporalBinary(
  configured: string | undefined,
  notify: (message: string) => void,
): Promise<string> {
  if (configured !== undefined) {
    if ((await serverVersionOf(configured)) !== null) return configured;
    throw new Error(`The configured Temporal CLI ${configured} does not run. Set the path of a working one.`);
  }
  // Counted up when the same version is built differently.
  const cached = join(cacheDirectory(), `temporal-${VERSION}-1`, 'temporal');
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
    ['go build', build],
  ] as const) {
    try {
      await intoCache(cached, (temporary) => obtain(temporary, notify));
      return cached;
    } catch (error) {
      failures.push(`${name}: ${reasonOf(error)}`);
    }
  }
  throw new Error(
    `Found no Temporal CLI and could not get one (${failures.join('; ')}). Install it from https://docs.temporal.io/cli, install Go, or set TEMPORAL_ADDRESS to a running server.`,
  );
}

/** The server's version in `temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)`; null if the program prints no such line. */
async function serverVersionOf(program: string): Promise<string | null> {
  try {
    const { stdout } = await run(program, ['--version'], { timeout: VERSION_TIMEOUT_MS });
    return /Server (\d+\.\d+[^,)\s]*)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > MIN_SERVER.major || (major === MIN_SERVER.major && minor >= MIN_SERVER.minor);
}

function cacheDirectory(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'amble');
}

/**
 * Obtained in a temporary directory and renamed into place: a kill half-way leaves no broken program, and if two processes do
 * it at once, the later one wins.
 */
async function intoCache(target: string, obtain: (temporary: string) => Promise<string>): Promise<void> {
  const directory = join(target, '..');
  await mkdir(directory, { recursive: true });
  const temporary = await mkdtemp(join(directory, 'unfinished-'));
  try {
    await rename(await obtain(temporary), target);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/**
 * The SDK downloads the CLI as part of starting a server. That happens in another process, because it would install the SDK's
 * single runtime in this one, before the worker can install its own.
 */
async function download(temporary: string, notify: (message: string) => void): Promise<string> {
  notify('Downloading the Temporal CLI (once)');
  const script = `
    const { TestWorkflowEnvironment } = await import('@temporalio/testing');
    const executable = { type: 'cached-download', downloadDir: ${JSON.stringify(temporary)}, version: 'v${VERSION}' };
    try {
      const environment = await TestWorkflowEnvironment.createLocal({ server: { executable } });
      await environment.teardown();
    } catch (error) {
      console.error(error.message);
      process.exit(1);
    }`;
  await run(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: packageRoot,
    timeout: DOWNLOAD_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const [file] = await readdir(temporary);
  if (file === undefined) throw new Error('the SDK downloaded no program');
  return join(temporary, file);
}

async function build(temporary: string, notify: (message: string) => void): Promise<string> {
  const go = await which('go', { nothrow: true });
  if (go === null) throw new Error('Go is not installed');
  notify('Building the Temporal CLI with Go (once, takes 3 to 4 minutes)');
  const options = { cwd: temporary, timeout: BUILD_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
  // A module of its own, because `go install` takes every dependency as the CLI asks for it.
  await writeFile(join(temporary, 'go.mod'), 'module temporal-of-amble\n');
  await run(go, ['get', `${GO_PACKAGE}@v${VERSION}`, SQLITE], options);
  await run(go, ['build', '-o', 'temporal', GO_PACKAGE], options);
  return join(temporary, 'temporal');
}

/** The last line that a failed program printed. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const message = messageOf(error);
  return (text || message).split('\n').at(-1) ?? message;
}
