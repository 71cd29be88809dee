/**
 * `npm run bench -- stalls`: the longest time for which each hostile construct holds the event loop. All of them are read by
 * the functions that read them in a crawl. Of several rounds the shortest counts, which leaves out other load on this machine.
 */
import { createParser } from '../src/html/index.ts';
import { parseRobots, readDirectives } from '../src/robots/index.ts';
import { readSitemap } from '../src/sitemaps/index.ts';
import { inScope, NO_RULES, normaliseUrl } from '../src/urls/index.ts';
import { checkResult } from './results.ts';

const MAX_STALL_MS = 100;
const ROUNDS = 5;

/** As long as a document may be that is parsed on the main thread. */
const INLINE = 256 * 1024 - 1_000;

const CJK = Array.from({ length: 7_900 }, (_, n) => String.fromCharCode(0x4e00 + n)).join('');

/** As many as one tag may have. */
const ATTRIBUTES = Array.from({ length: 1_900 }, (_, n) => ` a${n}`).join('');

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
    'nested headings': page(`${'<h1><div>'.repeat(200)}${'x '.repeat((INLINE - 2_000) / 2)}`),
    'dense elements': page(fill('<p>x')),
    'dense table': page(fill('<tr><td>x', INLINE, '<table>')),
    'misplaced in a table': page(fill('<b>x</b>', INLINE, '<table>')),
    'forgotten formatting': page(fill('<p>x', INLINE, `<p>${fill('<b id=#>', 3_000)}`)),
    'a shared link title': page(fill('<p><wbr>', INLINE, `<p><a href=/x title="${' '.repeat(INLINE / 2)}">`)),
    'a shared link address': page(fill('<p><wbr>', INLINE, `<p><a href="/${'./'.repeat(3_900)}">`)),
    'a shared rel': page(fill('<p><wbr>', INLINE, `<p><a href=/x rel="${'a '.repeat(INLINE / 4)}">`)),
    'attributes of start tags': page(fill(`<i${ATTRIBUTES}>`)),
    'attributes of end tags': page(fill(`</i${ATTRIBUTES}>`)),
    'one tag with attributes': page(`<i${fill(' a#')}>`),
    'unclosed tags': page(fill('<a ')),
    'unclosed quotes': page(fill('<a b="')),
    'end tags of nothing': page(fill('</p>')),
    'nested lists': page(fill('<ul><li>', INLINE)),
    'nested, within bounds': page(fill('</i><i>', INLINE, '<div>'.repeat(500))),
    entities: page(fill('&amp;&notit;')),
    comments: page(fill('<!-- -->')),
    'white space': page(' '.repeat(INLINE)),
    'links with a long query': page(fill(`<a href="/?${fill('#&', 1_900)}">`)),
    'links in windows-1252': page(fill(`<a href="?${'\u00e9'.repeat(900)}#">`, INLINE / 2), 'text/html'),
    'links in shift_jis': page(
      fill(`<a href="?${'&#20320;'.repeat(900)}#">`),
      'text/html; charset=shift_jis',
    ),
    'links in gbk': page(fill(`<a href="?${'&#20320;&#500;'.repeat(500)}#">`), 'text/html; charset=gbk'),
    'links to long hosts': page(fill(`<a href="//${CJK}/#">`)),
    'links to short hosts': page(fill(`<a href="//${CJK.slice(0, 63)}/#">`)),
    'XHTML, nested links': page(
      `<html>${fill('<a href="/#">', 6_000)}${'x'.repeat(INLINE - 10_000)}`,
      'application/xhtml+xml',
    ),
    'meta robots': page(`<meta name=robots content="${'a '.repeat(INLINE / 2)}">`),
    'a refresh': page(`<meta http-equiv=refresh content="${' '.repeat(INLINE)}">`),
    'X-Robots-Tag': () => readDirectives([fill('a: b, ', 65_000)], 'Amble'),
    'a URL to a long host': () => normaliseUrl(`http://${CJK}/`),
    'a sitemap of long hosts': sitemap(fill(`http://${CJK.slice(0, 2_500)}/#\n`, 261_000)),
    'a sitemap of long labels': sitemap(fill(`http://${CJK.slice(0, 63)}.org/#\n`, 500_000)),
    'a sitemap of 50,000 URLs': sitemap(fill('http://example.test/page/#\n', 1_400_000)),
    'scope of 5,000 seeds': scope(5_000, 1_000),
    'robots.txt of wildcards': robots(fill('allow:*~\n', 500_000)),
    'robots.txt of sitemaps': robots(fill(`sitemap: http://${CJK.slice(0, 60)}.org/#\n`, 250_000)),
  };
  for (const [name, construct] of Object.entries(constructs))
    checkResult(name.padEnd(26), await shortestStall(construct), { atMost: MAX_STALL_MS }, { digits: 0 });
}

/** Repeats a piece up to a length. Each `#` becomes a number. */
function fill(piece: string, length = INLINE, start = ''): string {
  const pieces = [start];
  for (let n = 0, at = start.length; at < length; n += 1) {
    const next = piece.replaceAll('#', String(n));
    pieces.push(next);
    at += next.length;
  }
  return pieces.join('');
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

function robots(text: string): () => void {
  return () => {
    const rules = parseRobots(`user-agent: *\n${text}`, { origin: 'http://example.test', token: 'Amble' });
    rules.check(`http://example.test/${'~'.repeat(1_900)}`);
    return void rules.sitemaps;
  };
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
