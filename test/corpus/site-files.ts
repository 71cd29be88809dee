/** Follows the links of a site from file to file without any code of Amble: only cheerio and the URL standard. */
import { readFileSync } from 'node:fs';
import { load } from 'cheerio';
import { fileFor, isPage } from './sites.ts';

export interface ReachablePaths {
  /** HTML pages. */
  pages: string[];
  /** Other files. */
  files: string[];
  /** Paths for which there is no file. */
  missing: string[];
}

export function findReachable(root: string): ReachablePaths {
  const found: ReachablePaths = { pages: [], files: [], missing: [] };
  const seen = new Set(['/']);
  for (const path of seen) {
    const file = fileFor(root, path);
    if (file === null) found.missing.push(path);
    else if (!isPage(file)) found.files.push(path);
    else {
      found.pages.push(path);
      for (const target of linksOf(file, path)) seen.add(target);
    }
  }
  return { pages: found.pages.sort(), files: found.files.sort(), missing: found.missing.sort() };
}

/**
 * Where the page at `path` might lead, found without any parser: everything that looks like a link, also in comments and
 * scripts, so that it includes whatever a parser overlooks.
 */
export function possibleTargets(root: string, path: string): string[] {
  const source = readFileSync(fileFor(root, path) ?? '', 'latin1');
  const base = /<base[^>]+href\s*=\s*["']?([^"'\s>]+)/i.exec(source)?.[1] ?? '';
  const links = source.matchAll(/(?:href|src)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))/gi);
  return [...links].flatMap(([, double, single, bare]) => {
    const href = (double ?? single ?? bare ?? '').trim();
    const from = new URL(base, `http://h${path}`);
    const url = URL.canParse(href, from.href) ? new URL(href, from) : null;
    return url?.origin === 'http://h' ? [url.pathname] : [];
  });
}

function linksOf(file: string, path: string): string[] {
  const $ = load(readFileSync(file), { scriptingEnabled: false });
  // Their content is not part of the page until a script inserts it.
  $('template').remove();
  const base = new URL($('base[href]').attr('href') ?? '', `http://h${path}`);
  const hrefs = $('a[href], area[href], frame[src], iframe[src]')
    .not('[rel~="nofollow"]')
    .map((_, element) => $(element).attr('href') ?? $(element).attr('src'))
    .get();
  return hrefs.flatMap((href) => {
    const url = URL.canParse(href, base.href) ? new URL(href, base) : null;
    return url?.origin === 'http://h' ? [url.pathname + url.search] : [];
  });
}
