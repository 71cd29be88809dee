/** From http to https, as most sites have moved: real TLS, checked by a worker that trusts the test's own authority. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CERTIFICATE, PRIVATE_KEY } from '../http/support/certificate.ts';
import { links } from '../support/web.ts';
import { type AmbleProcess, startAmbleProcess } from '../support/worker-process.ts';

let directory: string;
let amble: AmbleProcess;
let plain: http.Server;
let secure: https.Server;

/** Names other than secure.test have no certificate: a crawl that went there by https would fail. */
const at = (server: Server, host: string, path: string): string =>
  `${server === secure ? 'https' : 'http'}://${host}:${(server.address() as AddressInfo).port}${path}`;

beforeAll(async () => {
  plain = http.createServer(({ url, headers }, response) => {
    if (url === '/' && headers.host?.startsWith('secure.test'))
      response.writeHead(301, { location: at(secure, 'secure.test', '/') });
    else if (url === '/') response.writeHead(308, { location: at(secure, 'secure.test', '/moved') });
    else response.writeHead(url === '/kept' ? 200 : 404, { 'content-type': 'text/html' });
    response.end();
  });
  secure = https.createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, ({ url }, response) => {
    response.setHeader('content-type', 'text/html');
    if (url === '/') response.end(links('/about', '/'));
    else if (url === '/about') response.end('<title>About</title>');
    else if (url === '/moved')
      response.end(links('/about', at(plain, 'old.test', '/kept'), at(plain, 'elsewhere.test', '/')));
    else response.writeHead(404).end();
  });
  for (const server of [plain, secure])
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  directory = await mkdtemp(join(tmpdir(), 'amble-authority-'));
  const authority = join(directory, 'authority.pem');
  await writeFile(authority, CERTIFICATE);
  amble = await startAmbleProcess({ settings: {}, env: { NODE_EXTRA_CA_CERTS: authority } });
});
afterAll(async () => {
  await amble?.stop();
  for (const server of [plain, secure]) {
    server?.closeAllConnections();
    server?.close();
  }
  await rm(directory, { recursive: true, force: true });
});

async function crawl(seed: string, scope: 'host' | 'site'): Promise<string[]> {
  const { crawlId } = await amble.crawl({
    seeds: [seed],
    scope,
    delay: '20ms',
    sweepInterval: '300ms',
    retry: { maximumAttempts: 1 },
    resolve: ['secure.test', 'old.test', 'elsewhere.test'].map((name) => `${name}:127.0.0.1`),
    allowNetworks: ['127.0.0.0/8'],
  });
  const pages = await amble.db.page.findMany({ where: { crawlId } });
  return pages.map(({ url, status }) => `${status} ${url}`).sort();
}

it('a seed that answers "use https" is crawled there', async () => {
  expect(await crawl(at(plain, 'secure.test', '/'), 'host')).toEqual([
    `Fetched ${at(secure, 'secure.test', '/')}`,
    `Fetched ${at(secure, 'secure.test', '/about')}`,
    `Redirected ${at(plain, 'secure.test', '/')}`,
  ]);
});

it('a seed that moved to https at another host is crawled there, and where it was; nowhere else', async () => {
  expect(await crawl(at(plain, 'old.test', '/'), 'site')).toEqual([
    `Fetched ${at(plain, 'old.test', '/kept')}`,
    `Fetched ${at(secure, 'secure.test', '/about')}`,
    `Fetched ${at(secure, 'secure.test', '/moved')}`,
    `Redirected ${at(plain, 'old.test', '/')}`,
  ]);
});
