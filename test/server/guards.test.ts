import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { Env } from '../../src/server/env.ts';
import { addGuards } from '../../src/server/guards.ts';

function guarded(hosts: readonly string[] | null = []): Hono<Env> {
  const app = new Hono<Env>();
  addGuards(app, hosts);
  app.get('/', (c) => c.html('hello'));
  app.post('/', async (c) => c.text(`${(await c.req.text()).length}`));
  return app;
}

const OWN = 'http://localhost:8080/';

function get(app: Hono<Env>, host: string, url = OWN) {
  return app.request(url, { headers: { Host: host } });
}

test.each(['localhost:8080', '127.0.0.1:8080', '[::1]:8080', 'LOCALHOST'])('answers to %s', async (host) => {
  expect((await get(guarded(), host)).status).toBe(200);
});

test.each(['evil.example', 'evil.example:8080', 'localhost.evil.example', ''])(
  'does not answer to the host name "%s", which may be made to point here',
  async (host) => {
    expect((await get(guarded(), host)).status).toBe(421);
  },
);

test('probes are answered under any name', async () => {
  const app = guarded();
  app.get('/readyz', (c) => c.text('ready'));
  expect((await get(app, '192.0.2.7:8080', 'http://192.0.2.7:8080/readyz')).status).toBe(200);
});

test('answers to host names that are configured', async () => {
  expect((await get(guarded(['crawl.example']), 'crawl.example')).status).toBe(200);
});

test('nothing may be loaded, and no script run, that a page does not name by its nonce', async () => {
  const one = await get(guarded(), 'localhost');
  const policy = one.headers.get('Content-Security-Policy') ?? '';
  const [, nonce] = /script-src 'nonce-([^']+)';/.exec(policy) ?? [];
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe');
  const other = await get(guarded(), 'localhost');
  expect(nonce).toMatch(/^[\w+/=-]{20,}$/);
  expect(other.headers.get('Content-Security-Policy')).not.toContain(nonce);
  expect(one.headers.get('Cache-Control')).toBe('no-store');
});

test.each([
  ['a page of another site', { Origin: 'https://evil.example' }, 403],
  ['a page of another port of this machine', { Origin: 'http://localhost:3000' }, 403],
  ['a page without an origin', { Origin: 'null' }, 403],
  ['a browser that hides the origin', { 'Sec-Fetch-Site': 'cross-site' }, 403],
  ['its own page', { Origin: 'http://localhost:8080' }, 200],
  ['a program', {}, 200],
])('an order of %s is answered accordingly', async (_, headers, status) => {
  const response = await guarded().request(OWN, {
    method: 'POST',
    headers: { Host: 'localhost:8080', ...headers },
  });
  expect(response.status).toBe(status);
});

test('refuses input that no form of ours sends', async () => {
  const app = guarded();
  const headers = { Host: 'localhost' };
  const long = await app.request(OWN, { method: 'POST', headers, body: 'x'.repeat(300_000) });
  expect(long.status).toBe(413);
  expect((await get(app, 'localhost', `${OWN}?q=${'x'.repeat(10_000)}`)).status).toBe(414);
});

test.each(['/crawls/%00', '/?find=a%00b', '/%00'])('refuses a NUL character in %s', async (path) => {
  const response = await get(guarded(), 'localhost', `http://localhost:8080${path}`);
  expect([response.status, await response.text()]).toEqual([400, 'The address contains a NUL character.']);
});

test('a program is refused with problem details', async () => {
  const app = guarded();
  const refusals = [
    app.request('/api/v1/crawls', { headers: { Host: 'evil.example' } }),
    app.request('/api/v1/stop-all', {
      method: 'POST',
      headers: { Host: 'localhost', Origin: 'https://evil.example' },
    }),
    app.request('/api/v1/crawls', {
      method: 'POST',
      headers: { Host: 'localhost' },
      body: 'x'.repeat(300_000),
    }),
  ];
  for (const [index, status] of [421, 403, 413].entries()) {
    const refusal = await refusals[index];
    expect(refusal?.headers.get('Content-Type')).toBe('application/problem+json');
    expect(await refusal?.json()).toMatchObject({ status });
  }
});
