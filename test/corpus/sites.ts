/** The sites under pages/: each is served as a host of its own. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { packageRoot } from '../../src/core/package-root.ts';

export interface Site {
  name: string;
  root: string;
}

export const SITES: readonly Site[] = ['handbook', 'reference', 'journal'].map((name) => ({
  name,
  root: join(packageRoot, 'test', 'corpus', 'pages', name),
}));

/** The file that a web server would send for a path, or null if there is none. */
export function fileFor(root: string, path: string): string | null {
  const plain = decodeURIComponent(new URL(path, 'http://h').pathname);
  const file = join(root, plain.endsWith('/') ? `${plain}index.html` : plain);
  return existsSync(file) && statSync(file).isFile() ? file : null;
}

export function isPage(file: string): boolean {
  return extname(file) === '.html';
}

/** The paths of all pages of a site, linked or not. */
export function listPages(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isPage(entry.name))
    .map((entry) => encodeURI(`/${relative(root, join(entry.parentPath, entry.name))}`))
    .sort();
}
