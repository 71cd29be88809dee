import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DemoWeb, startDemoWeb } from '../../src/demo/index.ts';

interface Answer {
  status: number;
  location: string | undefined;
  contentType: string | undefined;
  body: string;
}

let web: DemoWeb;

beforeAll(async () => {
  web = await startDemoWeb();
});

afterAll(async () => {
  await web.stop();
});

/** Connects to loopback and names the host in the Host header, as a crawl with `--resolve` does. */
function get(url: string, { port } = web): Promise<Answer> {
  const { host, pathname } = new URL(url);
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: pathname, headers: { host, 'user-agent': 'Test/1.0' } };
    request(options, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () => {
        const { location, 'content-type': contentType } = response.headers;
        resolve({ status: response.statusCode ?? 0, location, contentType, body });
      });
    })
      .on('error', reject)
      .end();
  });
}

function hostUrl(name: string, path: string, { port } = web): string {
  return `http://${name}.demo.test:${port}${path}`;
}

function linksIn(body: string, base: string): string[] {
  return [...body.matchAll(/href="([^"]+)"/g)].map(([, link]) =>
    new URL(link ?? '', base).href.replace(/#.*/, ''),
  );
}

/** A crawler in a few lines, which finds the pages without the web's own list. */
async function walk(): Promise<Map<string, string>> {
  const statuses = new Map<string, string>();
  const queue = [...web.seeds];
  for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
    if (statuses.has(url)) continue;
    if (new URL(url).pathname.startsWith('/private/')) {
      statuses.set(url, 'Blocked');
      continue;
    }
    let answer = await get(url);
    for (let retry = 0; answer.status === 503 && retry < 2; retry += 1) answer = await get(url);
    if (answer.status === 301) {
      statuses.set(url, 'Redirected');
      queue.push(answer.location ?? '');
    } else if (answer.status !== 200) {
      statuses.set(url, 'Failed');
    } else if (answer.contentType?.startsWith('text/html')) {
      statuses.set(url, 'Fetched');
      queue.push(...linksIn(answer.body, url));
    } else {
      statuses.set(url, 'Rejected');
    }
  }
  return statuses;
}

test('the expected pages are those that following its links finds', async () => {
  const found = [...(await walk())].map(([url, status]) => ({ url, status }));
  const byUrl = (one: { url: string }, other: { url: string }) => one.url.localeCompare(other.url);
  expect(found.sort(byUrl)).toEqual([...web.expected].sort(byUrl));
});

test('six hosts have some seventy pages with every final status but Cancelled', () => {
  expect(web.seeds).toHaveLength(6);
  expect(web.expected.length).toBeGreaterThanOrEqual(60);
  expect(web.expected.length).toBeLessThanOrEqual(80);
  const statuses = new Set(web.expected.map(({ status }) => status));
  expect([...statuses].sort()).toEqual(['Blocked', 'Failed', 'Fetched', 'Redirected', 'Rejected']);
});

test('a flaky page fails twice, then succeeds, in every new web', async () => {
  const fresh = await startDemoWeb();
  try {
    const url = hostUrl('bakery', '/today', fresh);
    const statuses = [];
    for (let visit = 0; visit < 4; visit += 1) statuses.push((await get(url, fresh)).status);
    expect(statuses).toEqual([503, 503, 200, 200]);
  } finally {
    await fresh.stop();
  }
});

test('every request is recorded with host, path, time and user agent', async () => {
  const before = web.arrivals.length;
  const from = Date.now();
  await get(hostUrl('garden', '/shed'));
  const [arrival, ...more] = web.arrivals.slice(before);
  expect(more).toEqual([]);
  expect(arrival).toMatchObject({ host: 'garden.demo.test', path: '/shed', userAgent: 'Test/1.0' });
  // The two clocks of one process may be a little apart.
  expect(Math.abs((arrival?.atMs ?? 0) - from)).toBeLessThan(5_000);
});

describe('robots.txt', () => {
  test('sets a Crawl-delay and disallows a directory on one host', async () => {
    const { status, body } = await get(hostUrl('harbour', '/robots.txt'));
    expect(status).toBe(200);
    expect(body).toBe('User-agent: *\nDisallow: /private/\nCrawl-delay: 0.5\n');
  });

  test('is missing on another', async () => {
    expect((await get(hostUrl('library', '/robots.txt'))).status).toBe(404);
  });
});

test('an unknown host is answered with 421', async () => {
  expect((await get('http://elsewhere.test/')).status).toBe(421);
});
