/** A home for one test, the real processes that use it, and what the operating system reports about its engines. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { type Home, homeAt } from '../../src/embedded/home.ts';

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL('engine-user.mjs', import.meta.url));

const Found = z.object({
  databaseUrl: z.string(),
  temporal: z.object({ address: z.string(), namespace: z.string(), uiUrl: z.string() }),
});
export type Found = z.infer<typeof Found>;

/** A process of its own that uses the engines until it leaves or is killed. */
export interface EngineUser {
  /** Where it found them. */
  engines: Promise<Found>;
  /** On standard error, so far. */
  stderr(): string;
  leave(): Promise<void>;
  kill(): Promise<void>;
}

export interface HomeOfTest extends Home {
  user(): EngineUser;
  pids(): Promise<{ postgres: number; temporal: number }>;
  pidOf(engine: 'postgres' | 'temporal'): Promise<number>;
  /** Everything that runs on behalf of this home. */
  processes(): Promise<string[]>;
  /** Ends what a failed test left running, and removes the files. */
  remove(): Promise<void>;
}

export async function createTestHome(): Promise<HomeOfTest> {
  const parent = await mkdtemp(join(tmpdir(), 'amble-engines-'));
  const home = homeAt(join(parent, 'home'));
  const users: ChildProcess[] = [];
  const pidIn = async (record: string) => Number.parseInt(await readFile(record, 'utf8'), 10);
  return {
    ...home,
    user() {
      const child = spawn(process.execPath, [PROGRAM, home.directory], { stdio: ['pipe', 'pipe', 'pipe'] });
      users.push(child);
      return engineUser(child);
    },
    pids: async () => ({
      postgres: await pidIn(home.postgres.record),
      temporal: await pidIn(home.temporal.record),
    }),
    pidOf: (engine) => pidIn(home[engine].record),
    processes: () => processesOf(home.directory),
    async remove() {
      for (const user of users) user.kill('SIGKILL');
      for (const line of await processesOf(home.directory))
        process.kill(Number.parseInt(line, 10), 'SIGKILL');
      await rm(parent, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

function engineUser(child: ChildProcess): EngineUser {
  const { stdin, stdout, stderr } = child;
  if (!stdin || !stdout || !stderr) throw new Error('The process was started without pipes.');
  let written = '';
  stderr.on('data', (chunk) => {
    written += String(chunk);
  });
  const exit = once(child, 'exit');
  const engines = new Promise<Found>((resolve, reject) => {
    createInterface(stdout).once('line', (line) => resolve(Found.parse(JSON.parse(line))));
    exit.then(() => reject(new Error(`The process ended before its engines ran: ${written}`)), reject);
  });
  // A test that kills it before they run does not wait for this.
  engines.catch(() => {});
  return {
    engines,
    stderr: () => written,
    async leave() {
      stdin.end();
      const [code] = await exit;
      if (code !== 0) throw new Error(`The process ended with ${code}: ${written}`);
    },
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

async function processesOf(directory: string): Promise<string[]> {
  const { stdout } = await run('ps', ['-axww', '-o', 'pid=,command='], { maxBuffer: 16 * 1024 * 1024 });
  return stdout.split('\n').filter((line) => line.includes(directory));
}

/** A server that never answers, as a stranger on the port of an engine. Listens as soon as the port is free. */
export async function holdPort(port: number): Promise<{ release(): Promise<void> }> {
  for (;;) {
    // A client that disconnects must not cause an error here.
    const server = createServer((socket) => void socket.on('error', () => {}).resume()).listen(
      port,
      '127.0.0.1',
    );
    const listens = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (listens) return { release: () => new Promise((resolve) => server.close(() => resolve())) };
    await sleep(20);
  }
}

/** Addresses, as /proc/net writes them, on which this process listens. */
export async function listeningAddresses(pid: number): Promise<string[]> {
  const links = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
  );
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')));
  const LISTEN = '0A';
  return tables
    .flatMap((table) => table.split('\n').slice(1))
    .map((row) => row.trim().split(/\s+/))
    .filter((columns) => columns[3] === LISTEN && links.includes(`socket:[${columns[9]}]`))
    .map((columns) => columns[1]?.split(':')[0] ?? '');
}
