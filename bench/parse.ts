/**
 * `npm run bench -- parse`: what is made of a page (encoding, facts, links, headings, main text) beside cheerio's bare `load`
 * of the same text; and, apart, what it costs to tell its language. The pages are the documentation of two libraries.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'cheerio';
import { loadConfig } from '../src/config/index.ts';
import { packageRoot } from '../src/core/package-root.ts';
import { parsePage } from '../src/html/index.ts';
import { detectLanguage } from '../src/html/language.ts';
import { checkResult, printResult } from './results.ts';

const PAGES = ['p2/docs', 'paper/dist/docs'];
const WARM_UP = 2;
const ROUNDS = 10;

export async function parse(): Promise<void> {
  const bodies = PAGES.flatMap((directory) => readPages(join(packageRoot, 'node_modules', directory)));
  const texts = bodies.map((body) => body.toString('utf8'));
  const megabytes = bodies.reduce((sum, body) => sum + body.length, 0) / 1e6;
  const { crawl } = loadConfig({ env: {}, cwd: packageRoot, flags: {} });
  const source = {
    url: 'http://example.test/docs/page.html',
    contentType: 'text/html',
    token: 'Amble',
    maxLinks: crawl.maxLinksPerPage,
    rules: crawl.urls,
  };
  let bare = 0;
  let whole = 0;
  let telling = 0;
  let links = 0;
  let characters = 0;
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    // Page by page and by turns, so that whatever else this machine does falls on both.
    for (const [i, body] of bodies.entries()) {
      const loading = await cpuSeconds(() => load(texts[i] ?? ''));
      const parsing = await cpuSeconds(() => parsePage({ ...source, body }));
      const { text, links: found } = parsing.result;
      const detecting = await cpuSeconds(() => detectLanguage(text));
      if (round < 0) continue;
      links += found.length;
      characters += text.length;
      bare += loading.seconds;
      whole += parsing.seconds;
      telling += detecting.seconds;
    }
  }
  const [bareRate, wholeRate] = [(megabytes * ROUNDS) / bare, (megabytes * ROUNDS) / whole];
  printResult('pages', `${bodies.length} of ${megabytes.toFixed(1)} MB in all`);
  printResult('found', `${links / ROUNDS} links, ${characters / ROUNDS} characters of text`);
  printResult('cheerio load, MB/s', `${bareRate.toFixed(1)}  (of CPU time)`);
  printResult('parse, MB/s', wholeRate.toFixed(1));
  printResult('language, ms a page', ((1_000 * telling) / bodies.length / ROUNDS).toFixed(2));
  checkResult('parse : load', wholeRate / bareRate, { atLeast: 0.7 });
  printResult('with language : load', (bare / (whole + telling)).toFixed(2));
}

function readPages(directory: string): Buffer[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.html'))
    .sort()
    .map((path) => readFileSync(join(directory, path)));
}

/** Unlike the clock on the wall it does not count the time that others had the processor. */
async function cpuSeconds<T>(work: () => T | Promise<T>): Promise<{ result: T; seconds: number }> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { result, seconds: (user + system) / 1e6 };
}
