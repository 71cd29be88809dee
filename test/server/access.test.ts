import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { requireToken } from '../../src/server/access.tsx';
import type { Env } from '../../src/server/env.ts';
import { assertSafe } from '../../src/server/safe-listen.ts';

const TOKEN = 'correct-horse-battery-staple';

function closed(): Hono<Env> {
  const app = new Hono<Env>();
  requireToken(app, TOKEN);
  app.get('/now', (c) => c.text('crawls'));
  app.get('/bot', (c) => c.text('who crawls'));
  for (const path of ['/healthz', '/readyz', '/metrics']) app.get(path, (c) => c.text('state'));
  return app;
}

async function logIn(app: Hono<Env>, token: string, next = ''): Promise<Response> {
  return app.request('/login', { method: 'POST', body: new URLSearchParams({ token, next }) });
}

test('a program needs the token in its header; an address does not count', async () => {
  const app = closed();
  const get = (headers: Record<string, string>, path = '/now') => app.request(path, { headers });
  expect((await get({ Authorization: `Bearer ${TOKEN}` })).status).toBe(200);
  expect((await get({ Authorization: 'Bearer wrong' })).status).toBe(401);
  expect((await get({}, `/now?token=${TOKEN}`)).status).toBe(401);
});

test('a person logs in once and is let in by a cookie that scripts and other sites cannot use', async () => {
  const app = closed();
  const response = await logIn(app, TOKEN);
  const cookie = response.headers.get('Set-Cookie') ?? '';
  expect(cookie).toMatch(/HttpOnly; SameSite=Lax/);
  expect(cookie).not.toContain(TOKEN);
  const [session = ''] = cookie.split(';');
  expect((await app.request('/now', { headers: { Cookie: session } })).status).toBe(200);
  const forged = session.replace(/=\d+/, '=9999999999');
  expect((await app.request('/now', { headers: { Cookie: forged } })).status).toBe(401);
});

test('the login leads to the page that was asked for', async () => {
  const app = closed();
  const address = '/domains?find=a&b=c';
  const asked = await app.request(address, { headers: { Accept: 'text/html' } });
  const login = asked.headers.get('Location') ?? '';
  expect(login).toBe(`/login?next=${encodeURIComponent(address)}`);
  expect(await (await app.request(login)).text()).toContain('value="/domains?find=a&amp;b=c"');
  expect((await logIn(app, TOKEN, address)).headers.get('Location')).toBe(address);
});

test.each([
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  '/.//evil.example',
  'https://evil.example/',
])('the login does not lead to %j', async (next) => {
  expect((await logIn(closed(), TOKEN, next)).headers.get('Location')).toBe('/');
});

test('a form that is sent after the session has expired leads to the login, which says so', async () => {
  const app = closed();
  const sent = await app.request('http://localhost/orders', {
    method: 'POST',
    headers: { Host: 'localhost', Accept: 'text/html,*/*', Referer: 'http://localhost/crawls/example' },
  });
  expect(sent.status).toBe(303);
  const login = sent.headers.get('Location') ?? '';
  expect(login).toBe('/login?next=%2Fcrawls%2Fexample&expired=');
  expect(await (await app.request(login)).text()).toContain('nothing was ordered');
  const program = await app.request('/api/v1/stop-all', { method: 'POST', headers: { Accept: 'text/html' } });
  expect(program.headers.get('Content-Type')).toBe('application/problem+json');
});

test('a wrong token is refused, and guesses wait for each other', async () => {
  const app = closed();
  const began = performance.now();
  const [one, other] = await Promise.all([logIn(app, 'wrong'), logIn(app, `${TOKEN}x`)]);
  expect([one.status, other.status]).toEqual([401, 401]);
  expect(one.headers.get('Set-Cookie')).toBeNull();
  expect(performance.now() - began).toBeGreaterThan(900);
});

test('wrong guesses do not keep the right token waiting', async () => {
  const app = closed();
  const wrong = Array.from({ length: 4 }, () => logIn(app, 'wrong'));
  const order: string[] = [];
  void wrong[0]?.then(() => order.push('wrong'));
  await logIn(app, TOKEN).then(() => order.push('right'));
  await Promise.all(wrong);
  expect(order).toEqual(['right', 'wrong']);
});

test('health is open to everybody, and metrics are not', async () => {
  const statuses = ['/healthz', '/readyz', '/metrics'].map(
    async (path) => (await closed().request(path)).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 200, 401]);
});

test('the page for site owners is open to everybody', async () => {
  expect((await closed().request('/bot')).status).toBe(200);
});

test.each([
  [{ listen: 'localhost:8080' }, true],
  [{ listen: '127.0.0.1:80' }, true],
  [{ listen: '[::1]:80' }, true],
  [{ listen: 'none' }, true],
  [{ listen: '0.0.0.0:80' }, false],
  [{ listen: '192.0.2.1:80' }, false],
  [{ listen: 'localhost:8080', serverHosts: ['crawl.example'] }, false],
  [{ listen: '0.0.0.0:80', serverToken: TOKEN }, true],
])('with %o it is safe to serve without a further word: %s', (flags, safe) => {
  const check = () => assertSafe(loadConfig({ env: {}, cwd: '/', flags }));
  if (safe) check();
  else expect(check).toThrow('needs a token');
});
