/**
 * `npm run bench -- parse`: the cost of everything that is read from a page (encoding, facts, links, headings, main text),
 * compared with cheerio's bare `load` of the same text; and, separately, the cost of detecting its language. The pages are
 * those of the corpus test.
 */
import { readFileSync } from 'node:fs';
import { load } from 'cheerio';
import { loadConfig } from '../src/config/index.ts';
import { packageRoot } from '../src/core/package-root.ts';
import { parsePage } from '../src/html/index.ts';
import { detectLanguage } from '../src/html/language.ts';
import { fileFor, listPages, SITES } from '../test/corpus/sites.ts';
import { checkResult, printResult } from './results.ts';

const WARM_UP_ROUNDS = 5;
const ROUNDS = 100;

export async function parse(): Promise<void> {
  const bodies = SITES.flatMap(({ root }) =>
    listPages(root).map((path) => readFileSync(fileFor(root, path) ?? '')),
  );
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
  let loadSeconds = 0;
  let parseSeconds = 0;
  let languageSeconds = 0;
  let links = 0;
  let characters = 0;
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    // Both take turns on every page, so that other load on this machine affects both.
    for (const [i, body] of bodies.entries()) {
      const loading = await cpuSeconds(() => load(texts[i] ?? ''));
      const parsing = await cpuSeconds(() => parsePage({ ...source, body }));
      const { text, links: found } = parsing.result;
      const detecting = await cpuSeconds(() => detectLanguage(text));
      if (round < 0) continue;
      links += found.length;
      characters += text.length;
      loadSeconds += loading.seconds;
      parseSeconds += parsing.seconds;
      languageSeconds += detecting.seconds;
    }
  }
  const [loadRate, parseRate] = [(megabytes * ROUNDS) / loadSeconds, (megabytes * ROUNDS) / parseSeconds];
  printResult('pages', `${bodies.length} of ${megabytes.toFixed(1)} MB in all`);
  printResult('found', `${links / ROUNDS} links, ${characters / ROUNDS} characters of text`);
  printResult('cheerio load, MB/s', `${loadRate.toFixed(1)}  (of CPU time)`);
  printResult('parse, MB/s', parseRate.toFixed(1));
  printResult('language, ms a page', ((1_000 * languageSeconds) / bodies.length / ROUNDS).toFixed(2));
  checkResult('parse : load', parseRate / loadRate, { atLeast: 0.6 });
  printResult('with language : load', (loadSeconds / (parseSeconds + languageSeconds)).toFixed(2));
}

/** Unlike wall-clock time, leaves out the time that other processes had the processor. */
async function cpuSeconds<T>(work: () => T | Promise<T>): Promise<{ result: T; seconds: number }> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { result, seconds: (user + system) / 1e6 };
}
