import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Amble, startAmble } from '../support/amble.ts';
import { findReachable, possibleTargets, type ReachablePaths } from './site-files.ts';
import { fileFor, isPage, listPages, SITES } from './sites.ts';

interface PageRow {
  path: string;
  status: string;
  title: string | null;
  parsedHash: string | null;
}

describe('a crawl of the corpus', () => {
  let amble: Amble;
  let server: Server;
  const rows = new Map<string, PageRow[]>();

  beforeAll(async () => {
    amble = await startAmble();
    server = createServer((request, response) => {
      const site = SITES.find(({ name }) => request.headers.host?.startsWith(`${name}.`));
      const file = site === undefined ? null : fileFor(site.root, request.url ?? '/');
      if (file === null) response.writeHead(404).end();
      else {
        response.setHeader('content-type', isPage(file) ? 'text/html' : 'application/octet-stream');
        response.end(readFileSync(file));
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { crawlId } = await amble.crawl({
      seeds: SITES.map(({ name }) => `http://${name}.corpus.test:${port}/`),
      resolve: SITES.map(({ name }) => `${name}.corpus.test:127.0.0.1`),
      allowNetwork: ['127.0.0.0/8'],
      scope: 'host',
      delay: '0ms',
      concurrency: 4,
      retry: { maximumAttempts: 1 },
    });
    const pages = await amble.db.page.findMany({ where: { crawlId } });
    for (const { url, status, title, parsedHash } of pages) {
      const { hostname, pathname, search } = new URL(url);
      const name = hostname.replace('.corpus.test', '');
      rows.set(name, [...(rows.get(name) ?? []), { path: pathname + search, status, title, parsedHash }]);
    }
  }, 300_000);

  afterAll(async () => {
    await amble?.stop();
    await new Promise((resolve) => server?.close(resolve));
  });

  describe.each(SITES)('$name', ({ name, root }) => {
    let reachable: ReachablePaths;
    const paths = (status: string) =>
      (rows.get(name) ?? [])
        .filter((row) => row.status === status)
        .map(({ path }) => path)
        .sort();

    beforeAll(() => {
      reachable = findReachable(root);
    });

    test('fetches every page that can be reached over links, and no other', () => {
      expect(reachable.pages.length).toBeGreaterThan(10);
      expect(paths('Fetched')).toEqual(reachable.pages);
    });

    test('misses only pages that no fetched page mentions at all', () => {
      const fetched = paths('Fetched').map((path) => new URL(path, 'http://h').pathname);
      const asFile = (path: string) => (path.endsWith('/') ? `${path}index.html` : path);
      const reached = new Set(fetched.map(asFile));
      const mentioned = new Set(fetched.flatMap((path) => possibleTargets(root, path)).map(asFile));
      const missed = listPages(root).filter((path) => !reached.has(path));
      expect(missed).toHaveLength(1);
      expect(missed.filter((path) => mentioned.has(path))).toEqual([]);
    });

    test('rejects every file that is not a page', () => {
      expect(reachable.files).not.toEqual([]);
      expect(paths('Rejected')).toEqual(reachable.files);
    });

    test('fails for every link that leads nowhere', () => {
      expect(reachable.missing).not.toEqual([]);
      expect(paths('Failed')).toEqual(reachable.missing);
    });

    test('parses every page and finds its title', () => {
      const fetched = (rows.get(name) ?? []).filter(({ status }) => status === 'Fetched');
      expect(fetched.filter(({ title, parsedHash }) => title === null || parsedHash === null)).toEqual([]);
    });
  });
});
