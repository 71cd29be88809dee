/**
 * `npm run bench -- dashboards`: what 50 open dashboards take from a crawl. The same crawl without a delay runs with and without them,
 * in turn; the server has a process of its own, as `amble server` has.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type BenchEnvironment, log, withEnvironment } from './environment.ts';
import { checkResult, median, medianOf, printResult } from './results.ts';
import { PROGRAM } from './worker-process.ts';

const TURNS = 5;
const HOSTS = Array.from({ length: 20 }, () => 20);
const PAGES = HOSTS.reduce((sum, pages) => sum + pages, 0);
const DASHBOARDS = 50;
/** What is left of the pages/s. One run differs from the next by a tenth. */
const WANTED = 0.9;

export async function dashboards(): Promise<void> {
  await withEnvironment(async (environment) => {
    await environment.addWorker();
    const server = await startServerProcess(environment.config.home);
    try {
      await compare(environment, server.url);
    } finally {
      await server.stop();
    }
  });
}

async function compare({ crawl }: BenchEnvironment, server: URL): Promise<void> {
  const paceOf = async (id: string): Promise<number> =>
    PAGES / (await crawl(id, HOSTS, { delay: '0ms' })).seconds;
  await paceOf('warm-up');
  const ratios: number[] = [];
  for (let turn = 1; turn <= TURNS; turn += 1) {
    log(`Turn ${turn} of ${TURNS}: a crawl of ${PAGES} pages alone, then with ${DASHBOARDS} dashboards ...`);
    const alone = await paceOf(`alone-${turn}`);
    const watched = `watched-${turn}`;
    const viewers = await openDashboards(server, watched);
    const beside = await paceOf(watched);
    const events = viewers.close();
    printResult('pages/s', `${alone.toFixed(1)} alone, ${beside.toFixed(1)} with ${events} events sent`);
    ratios.push(beside / alone);
  }
  checkResult('with dashboards : alone', median(ratios), { atLeast: WANTED }, { remark: medianOf(ratios) });
}

/** Returns how many events they have got when they are closed. */
async function openDashboards(server: URL, crawlId: string): Promise<{ close(): number }> {
  const paths = ['/now', '/domains', '/orders', '/health', `/crawls/${crawlId}`];
  const left = new AbortController();
  let events = 0;
  const follow = async (path: string) => {
    const response = await fetch(new URL(path, server), {
      headers: { Accept: 'text/event-stream' },
      signal: left.signal,
    });
    for await (const chunk of response.body ?? [])
      events += Buffer.from(chunk).toString().split('event: main').length - 1;
  };
  for (let viewer = 0; viewer < DASHBOARDS; viewer += 1)
    follow(paths[viewer % paths.length] ?? '/now').catch((error: unknown) => {
      if (!left.signal.aborted) throw error;
    });
  return {
    close() {
      left.abort();
      return events;
    },
  };
}

async function startServerProcess(home: string): Promise<{ url: URL; stop(): Promise<void> }> {
  const argv = [PROGRAM, 'server', '--home', home, '--listen', 'localhost:0'];
  const child = spawn(process.execPath, argv, { cwd: home, stdio: ['ignore', 'ignore', 'pipe'] });
  const exit = once(child, 'exit');
  const url = await new Promise<URL>((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      const [address] = /http:\S+/.exec(line) ?? [];
      if (address !== undefined) resolve(new URL(address));
    });
    child.once('exit', (code) => reject(new Error(`The server exited with ${code} before it was ready.`)));
  });
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await exit;
    },
  };
}
