import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { productToken } from '../../src/http/index.ts';
import { lookUpRobots, saveRobotsRules } from '../../src/storage/robots.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { DOCUMENT_ODDITIES, MAX_LINKS_PER_PAGE, NOTHING_SPECIAL, RULES } from './parse-oddities.ts';

const NO_RULES = { body: null, statusCode: 404, freshMs: 3_600_000, maxCrawlDelayMs: 300_000 };

describe('the page of an odd document, and the links it leads to', () => {
  const suffix = `${randomBytes(4).toString('hex')}.test`;
  let amble: Amble;
  let server: Server;
  let port: number;
  let crawlId: string;

  const origin = (name: string): string => `http://${name}.${suffix}:${port}`;

  beforeAll(async () => {
    const byName = new Map(DOCUMENT_ODDITIES.map((oddity) => [oddity.name, oddity]));
    server = createServer(({ url, headers }, response) => {
      const oddity = url === '/' ? byName.get(headers.host?.split('.')[0] ?? '') : undefined;
      response.setHeader('content-type', oddity?.contentType ?? 'text/html');
      response.end(oddity?.body ?? `<title>${headers.host}${url}</title>`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The test server has no port.');
    port = address.port;
    amble = await startAmble({ tuning: { crawl: { maxLinksPerPage: MAX_LINKS_PER_PAGE } } });
    const names = DOCUMENT_ODDITIES.map(({ name }) => name);
    // robots.txt is known and empty, so that only the documents are tested.
    for (const name of names) {
      const reader = { domain: `${name}.${suffix}`, agent: productToken(amble.config.userAgent) };
      await lookUpRobots(amble.db, { origin: origin(name), ...reader, claimMs: 60_000 }, null);
      await saveRobotsRules(amble.db, origin(name), { ...reader, ...NO_RULES });
    }
    const result = await amble.crawl({
      seeds: names.map((name) => `${origin(name)}/`),
      resolve: names.map((name) => `${name}.${suffix}:127.0.0.1`),
      allowNetwork: ['127.0.0.0/8'],
      delay: '0ms',
      retry: { maximumAttempts: 1 },
      ...RULES,
    });
    crawlId = result.crawlId;
  });
  afterAll(async () => {
    await amble?.stop();
    await new Promise((resolve) => server?.close(resolve));
  });

  test.each(DOCUMENT_ODDITIES)('$name', async ({ name, expected, followed }) => {
    const home = origin(name);
    const pages = await amble.db.page.findMany({
      where: { crawlId, url: { startsWith: `${home}/` } },
      orderBy: { url: 'asc' },
    });
    const page = pages.find(({ url }) => url === `${home}/`);
    const path = (url: string | null | undefined) => url?.replace(home, '') ?? null;
    expect({
      status: page?.status,
      reason: page?.reason,
      title: page?.title,
      canonical: path(page?.canonicalUrl),
      redirectTo: path(page?.redirectTo),
      noindex: page?.noindex,
      linksFound: page?.linksFound,
      linksSkipped: page?.linksSkipped,
    }).toEqual({ ...NOTHING_SPECIAL, ...expected });
    const others = pages.filter((other) => other !== page);
    expect(others.map(({ url }) => path(url)).sort()).toEqual([...followed].sort());
    expect(others.filter(({ status }) => status !== 'Fetched')).toEqual([]);
  });
});
