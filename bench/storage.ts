/**
 * What a page leaves behind in Postgres, in Temporal and in the content store, from a crawl of pages with text and links. Growth is
 * measured, so what an empty installation takes does not count. `--production`: with a Temporal server on Postgres.
 */
import { readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import type { Database } from '../src/storage/database.ts';
import { pageWorkflowId, throttleId } from '../workflows/ids.ts';
import { type BenchEnvironment, log, withEnvironment } from './environment.ts';
import { listenOnLoopback } from './loopback.ts';
import { parseOptions } from './options.ts';
import { printResult } from './results.ts';
import { readTemporalBytes } from './temporal-bytes.ts';

const HOSTS = 10;
const PAGES_PER_HOST = 150;
/** Of each page, to other pages of its host. */
const LINKS = 60;
const WORDS = 3_500;

export async function storage(...args: string[]): Promise<void> {
  const { production } = parseOptions(args, { production: { type: 'boolean', default: false } });
  const measure = async (environment: BenchEnvironment) => {
    const { db, start } = environment;
    await environment.addWorker();
    const web = await startTextWeb();
    const before = await tableSizes(db);
    const beforeTemporal = await readTemporalBytes(environment, production);
    log(`Crawling ${HOSTS} hosts of ${PAGES_PER_HOST} pages with ${LINKS} links each ...`);
    const input = { seeds: web.seeds, resolve: web.resolve, delay: '0ms', concurrency: 4 };
    await (await start('storage', input)).result();
    web.stop();
    const pages = await db.page.count({ where: { status: 'Fetched' } });
    printResult('pages', String(pages));
    printTables('Postgres', before, await tableSizes(db), pages);
    await printHistories(environment, pages);
    printTables('Temporal', beforeTemporal, await readTemporalBytes(environment, production), pages);
    await printContent(environment, pages);
  };
  await withEnvironment(measure, {}, { production });
}

/** With indexes. */
async function tableSizes(db: Database): Promise<Map<string, number>> {
  const rows = await db.$queryRaw<{ name: string; bytes: number }[]>`
    SELECT relname AS name, pg_total_relation_size(oid)::float8 AS bytes FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`;
  return new Map(rows.map(({ name, bytes }) => [name, bytes]));
}

function printTables(
  what: string,
  before: Map<string, number>,
  after: Map<string, number>,
  pages: number,
): void {
  const grown = [...after].map(([name, bytes]) => ({ name, bytes: bytes - (before.get(name) ?? 0) }));
  const total = grown.reduce((sum, { bytes }) => sum + bytes, 0);
  printResult(`${what}, bytes/page`, (total / pages).toFixed(0));
  for (const { name, bytes } of grown.toSorted((one, other) => other.bytes - one.bytes))
    if (bytes / pages >= 10) printResult(`  ${name}`, (bytes / pages).toFixed(0));
}

interface HistoryCost {
  bytes: number;
  events: number;
  /** Transactions of the server that changed the workflow. */
  transitions: number;
}

async function printHistories({ client, db }: BenchEnvironment, pages: number): Promise<void> {
  const rows = await db.page.findMany({ where: { status: 'Fetched' } });
  const ids = rows.map(({ crawlId, url, urlHash }) =>
    pageWorkflowId(crawlId, { url, urlHash: Buffer.from(urlHash).toString('hex') }),
  );
  const domains = await db.crawlDomain.findMany();
  const throttles = domains.map(({ domain }) => throttleId(domain));
  for (const [name, workflows] of [
    ['page', ids],
    ['throttle', throttles],
    ['crawl', ['storage']],
  ] as const) {
    const cost = await costOf(client, workflows);
    const each = (what: keyof HistoryCost): string => (cost[what] / pages).toFixed(1);
    printResult(
      `${name}, per page`,
      `${each('bytes')} bytes  ${each('events')} events  ${each('transitions')} transitions`,
    );
  }
}

async function costOf(client: Client, workflowIds: readonly string[]): Promise<HistoryCost> {
  const costs = await pLimit(10).map(workflowIds, async (workflowId) => {
    const { raw } = await client.workflow.getHandle(workflowId).describe();
    const { historySizeBytes, historyLength, stateTransitionCount } = raw.workflowExecutionInfo ?? {};
    return {
      bytes: Number(historySizeBytes ?? 0),
      events: Number(historyLength ?? 0),
      transitions: Number(stateTransitionCount ?? 0),
    };
  });
  const sum = (what: keyof HistoryCost): number => costs.reduce((total, cost) => total + cost[what], 0);
  return { bytes: sum('bytes'), events: sum('events'), transitions: sum('transitions') };
}

async function printContent({ db, config }: BenchEnvironment, pages: number): Promise<void> {
  if (config.contentStore.kind !== 'directory')
    throw new Error('The benchmark stores bodies in a directory.');
  const directory = config.contentStore.path;
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await pLimit(20).map(files, (file) => stat(join(file.parentPath, file.name)));
  const bytes = sizes.reduce((sum, { size }) => sum + size, 0);
  const { _sum: body } = await db.page.aggregate({ _sum: { contentBytes: true } });
  printResult('bodies, bytes/page', ((body.contentBytes ?? 0) / pages).toFixed(0));
  printResult('stored, bytes/page', (bytes / pages).toFixed(0));
  printResult('objects/page', (files.length / pages).toFixed(2));
}

/** Pages of English-like text with a title, headings and links: what is stored depends on them. */
async function startTextWeb(): Promise<{ seeds: string[]; resolve: string[]; stop(): void }> {
  const server = createServer((request, response) => {
    const { hostname, pathname } = new URL(request.url ?? '/', `http://${request.headers.host}`);
    if (pathname === '/robots.txt') {
      response.writeHead(404).end();
      return;
    }
    const etag = `"${pathname}"`;
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', etag });
    response.end(pageOf(hostname, Number(pathname.split('-').at(-1)) || 0));
  });
  const port = await listenOnLoopback(server);
  const names = Array.from({ length: HOSTS }, (_, i) => `www${i}.storage-example.test`);
  return {
    seeds: names.map((name) => `http://${name}:${port}/`),
    resolve: names.map((name) => `${name}:127.0.0.1`),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const VOCABULARY = Array.from({ length: 5_000 }, (_, i) => wordOf(i));

/** Short words are frequent, as in a language. */
function textOf(words: number, random: () => number): string {
  return Array.from({ length: words }, () => VOCABULARY[Math.floor(VOCABULARY.length * random() ** 3)]).join(
    ' ',
  );
}

function wordOf(number: number): string {
  const syllables = ['ka', 'lo', 'mi', 'ter', 'na', 'so', 'ri', 'ven', 'du', 'pa', 'le', 'sta'];
  const rest = Math.floor(number / syllables.length);
  return `${syllables[number % syllables.length]}${rest > 0 ? wordOf(rest - 1) : ''}`;
}

/** Different on each host: the same content would be stored once. */
function pageOf(host: string, number: number): string {
  const random = randomFrom(Number(host.replace(/\D/g, '')) * PAGES_PER_HOST + number + 1);
  const links = Array.from({ length: LINKS }, (_, i) => {
    const target = (number + 1 + i * 7) % PAGES_PER_HOST;
    const path =
      target === 0
        ? '/'
        : `/articles/section-${target % 12}/${textOf(4, randomFrom(target)).replaceAll(' ', '-')}-${target}`;
    return `<li class="nav-item"><a class="link" href="${path}">${textOf(4, randomFrom(target))}</a></li>`;
  });
  const paragraphs = Array.from({ length: 25 }, () => `<p class="text">${textOf(WORDS / 25, random)}.</p>`);
  return `<!doctype html><html lang="en"><head><title>${textOf(6, random)}</title><meta name="description" content="${textOf(20, random)}"></head>
<body><nav><ul>${links.join('\n')}</ul></nav><main><h1>${textOf(6, random)}</h1>${paragraphs.join('\n')}</main></body></html>`;
}

/** A page is the same whenever it is requested. */
function randomFrom(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
