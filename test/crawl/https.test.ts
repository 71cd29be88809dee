/** Sites that moved from http to https: real TLS, verified by a worker that trusts the test's own CA. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CERTIFICATE, PRIVATE_KEY } from '../http/support/certificate.ts';
import { links } from '../support/web.ts';
import { type AmbleProcess, startAmbleProcess } from '../support/worker-process.ts';

const HANDSHAKE_MS = 800;

let directory: string;
let amble: AmbleProcess;
let plain: http.Server;
let secure: https.Server;
let slow: Slow;

/** Hosts other than secure.test have no certificate: fetching them by https would fail. */
const at = (server: Server, host: string, path: string): string =>
  `${server === plain ? 'http' : 'https'}://${host}:${(server.address() as AddressInfo).port}${path}`;

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
  slow = slowInHandshakes();
  for (const server of [plain, secure, slow.server])
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  directory = await mkdtemp(join(tmpdir(), 'amble-authority-'));
  const authority = join(directory, 'authority.pem');
  await writeFile(authority, CERTIFICATE);
  const tuning = { crawl: { sweepIntervalMs: 300 } };
  amble = await startAmbleProcess({ tuning, env: { NODE_EXTRA_CA_CERTS: authority } });
});
afterAll(async () => {
  await amble?.stop();
  for (const server of [plain, secure]) {
    server?.closeAllConnections();
    server?.close();
  }
  slow?.stop();
  await rm(directory, { recursive: true, force: true });
});

interface Slow {
  server: Server;
  /** When each connection was accepted. */
  accepted: number[];
  stop(): void;
}

/** Accepts connections at once and delays the handshake; each connection serves one response. */
function slowInHandshakes(): Slow {
  const accepted: number[] = [];
  const sockets = new Set<Socket>();
  const inner = https.createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, ({ url }, response) => {
    response.writeHead(url === '/robots.txt' ? 404 : 200, {
      'content-type': 'text/html',
      connection: 'close',
    });
    response.end(url === '/' ? links('/1', '/2') : '');
  });
  const server = net.createServer((socket) => {
    accepted.push(performance.now());
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    setTimeout(() => inner.emit('connection', socket), HANDSHAKE_MS);
  });
  const stop = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { server, accepted, stop };
}

async function crawl(seed: string, scope: 'host' | 'site', input = {}): Promise<string[]> {
  const { crawlId } = await amble.crawl({
    seeds: [seed],
    scope,
    delay: '20ms',
    retry: { maximumAttempts: 1 },
    resolve: ['secure.test', 'old.test', 'elsewhere.test'].map((name) => `${name}:127.0.0.1`),
    allowNetwork: ['127.0.0.0/8'],
    ...input,
  });
  const pages = await amble.db.page.findMany({ where: { crawlId } });
  return pages.map(({ url, status }) => `${status} ${url}`).sort();
}

it('a seed that redirects to https is crawled there', async () => {
  expect(await crawl(at(plain, 'secure.test', '/'), 'host')).toEqual([
    `Fetched ${at(secure, 'secure.test', '/')}`,
    `Fetched ${at(secure, 'secure.test', '/about')}`,
    `Redirected ${at(plain, 'secure.test', '/')}`,
  ]);
});

it('a seed that moved to https at another host is crawled on both hosts and nowhere else', async () => {
  expect(await crawl(at(plain, 'old.test', '/'), 'site')).toEqual([
    `Fetched ${at(plain, 'old.test', '/kept')}`,
    `Fetched ${at(secure, 'secure.test', '/about')}`,
    `Fetched ${at(secure, 'secure.test', '/moved')}`,
    `Redirected ${at(plain, 'old.test', '/')}`,
  ]);
});

it('a site with a slow TLS handshake is fetched, and its connections keep the gap', async () => {
  const delayMs = 2 * HANDSHAKE_MS;
  const pages = await crawl(at(slow.server, 'secure.test', '/'), 'host', {
    concurrency: 2,
    delay: `${delayMs}ms`,
  });
  expect(pages).toEqual(['/', '/1', '/2'].map((path) => `Fetched ${at(slow.server, 'secure.test', path)}`));
  // With robots.txt: no connection was for nothing.
  expect(slow.accepted).toHaveLength(4);
  const gaps = slow.accepted.slice(1).map((accepted, i) => accepted - (slow.accepted[i] ?? 0));
  // Measured by the server on a busy machine: a violated gap would be half of it.
  expect(Math.min(...gaps)).toBeGreaterThan(0.8 * delayMs);
});
