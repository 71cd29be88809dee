import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/core/package-root.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { fileFor, isPage, listPages, rawTargets, type Walked, walkFiles } from './walk-files.ts';

/** Trees made by three generators over a decade, none of them by us: host, directory, front page. */
const TREES = [
  { host: 'p2.corpus.test', root: join(packageRoot, 'node_modules', 'p2'), start: '/docs/' },
  { host: 'cannon.corpus.test', root: join(packageRoot, 'node_modules', 'cannon'), start: '/docs/' },
  { host: 'paper.corpus.test', root: join(packageRoot, 'node_modules', 'paper', 'dist', 'docs'), start: '/' },
];

describe('documentation that nobody here wrote', () => {
  let amble: Amble;
  let server: Server;
  const rows = new Map<
    string,
    { path: string; status: string; title: string | null; text: string | null }[]
  >();

  beforeAll(async () => {
    amble = await startAmble();
    server = createServer((request, response) => {
      const root = TREES.find(({ host }) => request.headers.host?.startsWith(host))?.root;
      const file = root === undefined ? null : fileFor(root, request.url ?? '/');
      if (file === null) response.writeHead(404).end();
      else {
        response.setHeader('content-type', isPage(file) ? 'text/html' : 'application/octet-stream');
        response.end(readFileSync(file));
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { crawlId } = await amble.crawl({
      seeds: TREES.map(({ host, start }) => `http://${host}:${port}${start}`),
      resolve: TREES.map(({ host }) => `${host}:127.0.0.1`),
      allowNetwork: ['127.0.0.0/8'],
      scope: 'host',
      delay: '0ms',
      concurrency: 4,
      retry: { maximumAttempts: 1 },
    });
    const pages = await amble.db.page.findMany({ where: { crawlId } });
    for (const { url, status, title, parsedHash } of pages) {
      const { hostname, pathname, search } = new URL(url);
      const row = { path: pathname + search, status, title, text: parsedHash };
      rows.set(hostname, [...(rows.get(hostname) ?? []), row]);
    }
  }, 900_000);

  afterAll(async () => {
    await amble?.stop();
    await new Promise((resolve) => server?.close(resolve));
  });

  describe.each(TREES)('$host', ({ host, root, start }) => {
    let walked: Walked;
    const paths = (status: string) =>
      (rows.get(host) ?? [])
        .filter((row) => row.status === status)
        .map(({ path }) => path)
        .sort();

    beforeAll(() => {
      walked = walkFiles(root, start);
    });

    test('is as large as a corpus should be', () => {
      expect(walked.pages.length).toBeGreaterThan(30);
    });

    test('every page that a walk over the files reaches is fetched, and no other', () => {
      expect(paths('Fetched')).toEqual(walked.pages);
    });

    test('every other page in the tree is one that no page fetched so much as mentions', () => {
      const fetched = paths('Fetched').map((path) => new URL(path, 'http://h').pathname);
      const asFile = (path: string) => (path.endsWith('/') ? `${path}index.html` : path);
      const reached = new Set(fetched.map(asFile));
      const mentioned = new Set(fetched.flatMap((path) => rawTargets(root, path)).map(asFile));
      const missed = listPages(root).filter((path) => !reached.has(path) && mentioned.has(path));
      expect(missed).toEqual([]);
    });

    test('every file that is no page is rejected, and every link into nowhere fails', () => {
      expect(paths('Rejected')).toEqual(walked.files);
      expect(paths('Failed')).toEqual(walked.missing);
    });

    test('every page was parsed and has its title', () => {
      const fetched = (rows.get(host) ?? []).filter(({ status }) => status === 'Fetched');
      expect(fetched.filter(({ title, text }) => title === null || text === null)).toEqual([]);
    });
  });
});
