/** The pages of a documentation tree that a reader can reach, found with nothing of Amble: files, cheerio and the URL standard. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { load } from 'cheerio';

export interface Walked {
  /** Paths of HTML pages. */
  pages: string[];
  /** Paths of other files that are linked to. */
  files: string[];
  /** Paths that are linked to and lead nowhere. */
  missing: string[];
}

/** The file that a web server would send for a path; null: none. */
export function fileFor(root: string, path: string): string | null {
  const plain = decodeURIComponent(new URL(path, 'http://h').pathname);
  const file = join(root, plain.endsWith('/') ? `${plain}index.html` : plain);
  return existsSync(file) && statSync(file).isFile() ? file : null;
}

export function isPage(file: string): boolean {
  return extname(file) === '.html';
}

export function walkFiles(root: string, start: string): Walked {
  const found: Walked = { pages: [], files: [], missing: [] };
  const seen = new Set([start]);
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

/** Every page there is, linked or not, by the path it would be asked for. */
export function listPages(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isPage(entry.name))
    .map((entry) => encodeURI(`/${relative(root, join(entry.parentPath, entry.name))}`));
}

/**
 * Where the page at `path` might lead, found without any parser: everything that looks like a link, in comments and
 * scripts too, so that what a parser overlooks is among it.
 */
export function rawTargets(root: string, path: string): string[] {
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
  const $ = load(readFileSync(file));
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
