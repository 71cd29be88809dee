/**
 * `npm run bench -- stalls`: the longest time for which each hostile construct holds the event loop. All of them are read by
 * the functions that read them in a crawl. Of several rounds the shortest counts, which leaves out other load on this machine.
 */
import { createParser } from '../src/html/index.ts';
import type { ResponseExchange } from '../src/http/index.ts';
import { diffRobots } from '../src/reports/robots-diff.ts';
import { parseRobots, readDirectives, readRobotsResponse } from '../src/robots/index.ts';
import { readSitemap } from '../src/sitemaps/index.ts';
import { inScope, NO_RULES, normaliseUrl } from '../src/urls/index.ts';
import { prove, type Records } from '../src/verify/index.ts';
import { CJK, fill, hostileDocuments, ROBOTS_OF_WILDCARDS } from './hostile-documents.ts';
import { withRecordedPages } from './recorded-pages.ts';
import { checkResult } from './results.ts';

const MAX_STALL_MS = 100;
const ROUNDS = 5;

export async function stalls(): Promise<void> {
  const parse = createParser();
  const page = (html: string, contentType = 'text/html; charset=utf-8') => {
    const body = Buffer.from(html);
    const rest = {
      url: 'http://example.test/',
      contentType,
      token: 'Amble',
      maxLinks: 10_000,
      rules: NO_RULES,
    };
    return () => parse({ bytes: body.length, readBody: async () => body, ...rest });
  };
  const constructs: Record<string, () => unknown> = {
    'an honest page of 100 kB': page(fill('<p>Some words and <a href="/#">a link</a></p>', 100_000)),
    'an honest page of 255 kB': page(fill('<p>Some words and <a href="/#">a link</a></p>')),
    ...Object.fromEntries(
      Object.entries(hostileDocuments()).map(([name, { html, contentType }]) => [
        name,
        page(html, contentType),
      ]),
    ),
    'X-Robots-Tag': () => readDirectives([fill('a: b, ', 65_000)], 'Amble'),
    'a URL to a long host': () => normaliseUrl(`http://${CJK}/`),
    'a sitemap of long hosts': sitemap(fill(`http://${CJK.slice(0, 2_500)}/#\n`, 261_000)),
    'a sitemap of long labels': sitemap(fill(`http://${CJK.slice(0, 63)}.org/#\n`, 500_000)),
    'a sitemap of 50,000 URLs': sitemap(fill('http://example.test/page/#\n', 1_400_000)),
    'scope of 5,000 seeds': scope(5_000, 1_000),
    'robots.txt of wildcards': robots(ROBOTS_OF_WILDCARDS),
    'robots.txt of escapes': robots(fill('allow:/%e3%81%82%e3#\n', 500_000)),
    'robots.txt in Latin-1': robots(Buffer.from('allow:/\xe9\n'.repeat(60_000), 'latin1')),
    'robots.txt of high bytes': robots(Buffer.alloc(512_000, 0xff)),
    'robots.txt of line ends': robots('\r'.repeat(512_000)),
    'two versions, other lines': () => diffRobots(fill('a#\n', 50_000), fill('b#\n', 50_000)),
    'two versions, line ends': () => diffRobots('\n'.repeat(500_000), '\n'.repeat(499_999)),
    'a proof by slow rules': proofBySlowRules(),
    'robots.txt of sitemaps': robots(fill(`sitemap: http://${CJK.slice(0, 60)}.org/#\n`, 250_000)),
  };
  await check(constructs);
  await withRecordedPages(check);
}

async function check(constructs: Record<string, () => unknown>): Promise<void> {
  for (const [name, construct] of Object.entries(constructs))
    checkResult(name.padEnd(28), await shortestStall(construct), { atMost: MAX_STALL_MS }, { digits: 0 });
}

function sitemap(text: string): () => Promise<unknown> {
  const body = Buffer.from(text);
  const source = { url: 'http://example.test/sitemap.txt', contentType: 'text/plain', maxBytes: 50e6 };
  const chunks = async function* () {
    // As large as those of a file.
    for (let at = 0; at < body.length; at += 65_536) {
      await new Promise(setImmediate);
      yield body.subarray(at, at + 65_536);
    }
  };
  return () => readSitemap(chunks(), source, async () => {});
}

function scope(seeds: number, links: number): () => void {
  const hosts = Array.from({ length: seeds }, (_, n) => `www.seed-${n}.org`);
  return () => {
    const rule = { scope: 'site', seedHosts: [...hosts] } as const;
    for (let n = 0; n < links; n += 1) inScope(`http://www.other-${n}.org/`, rule);
  };
}

function robots(lines: string | Buffer): () => void {
  const body = Buffer.concat([Buffer.from('user-agent: *\n'), Buffer.from(lines)]);
  return () => {
    const response = readRobotsResponse(responseOf(body), 'http://example.test/robots.txt');
    if (response.kind !== 'rules') throw new Error('This robots.txt has no rules.');
    const rules = parseRobots(response.text, { origin: 'http://example.test', token: 'Amble' });
    rules.check(`http://example.test/${'~'.repeat(1_900)}`);
    return void rules.sitemaps;
  };
}

/** Rules just below the bound, for each of the requests that a proof judges by them. */
function proofBySlowRules(): () => Promise<unknown> {
  const stored = {
    origin: 'http://example.test',
    body: fill('allow:/*a*a*a*b#\n', 34_000, 'user-agent: *\n'),
    storedAtMs: 0,
    maxCrawlDelayMs: 0,
  };
  const each = async function* <T>(...values: T[]) {
    yield* values;
  };
  const requests = Array.from({ length: 100 }, (_, n) => ({
    leaseId: `${n}`,
    domain: 'example.test',
    crawlId: 'crawl',
    url: `http://example.test/${'a'.repeat(300)}${n}`,
    isRobots: false,
    startedAtMs: 1_000 * n,
    startedErrorMs: 0,
    minGapMs: 1_000,
    allowedBy: { rulesId: '1', agent: 'Amble' },
  }));
  const records: Records = {
    domains: () => each('example.test'),
    requests: () => each(...requests),
    rules: async () => stored,
    politeness: async () => null,
    addressBlocks: () => each(),
    sentTo: () => each(),
    excessAttempts: () => each(),
  };
  return () => prove(records, () => true, { maxRulesMs: 500 });
}

function responseOf(body: Buffer): ResponseExchange {
  const times = { startedAt: 0, latencyMs: 1, durationMs: 1 };
  return { kind: 'response', status: 200, headers: {}, body, bodyBytes: body.length, cut: null, ...times };
}

async function shortestStall(construct: () => unknown): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1)
    shortest = Math.min(shortest, await longestStall(construct));
  return shortest;
}

async function longestStall(construct: () => unknown): Promise<number> {
  let longest = 0;
  let last = performance.now();
  let cpu = process.cpuUsage();
  let running = true;
  const tick = (): void => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    // The CPU time of all threads is less than the time on the clock only if other processes had the processor.
    longest = Math.max(longest, Math.min(now - last, (user + system) / 1_000));
    cpu = process.cpuUsage();
    last = now;
    if (running) setImmediate(tick);
  };
  setImmediate(tick);
  await new Promise(setImmediate);
  await construct();
  tick();
  running = false;
  return longest;
}
