import { describe, expect, test } from 'vitest';
import { createAgentPool, createNetworkPolicy, parseCidr } from '../../src/http/index.ts';
import { loopbackAgent, send, sendForError, sendForResponse } from './support/fetching.ts';
import { rawServer } from './support/servers.ts';

const closed = createNetworkPolicy({ allowNetwork: [], resolve: {} });

describe('an address is refused by default if it is special', () => {
  test.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['0.0.0.0', 'unspecified'],
    ['10.1.2.3', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.0.1', 'private'],
    ['100.100.100.200', 'carrier-internal'],
    ['169.254.1.1', 'link-local'],
    ['169.254.169.254', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['192.0.0.192', 'reserved'],
    ['198.19.0.1', 'benchmarking'],
    ['203.0.113.9', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['250.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::7f00:1', 'IPv4-compatible'],
    ['fc00::1', 'private'],
    ['fd00:ec2::254', 'metadata'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['ff02::1', 'multicast'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::', '6to4'],
    ['2001:0:1::', 'Teredo'],
    ['64:ff9b:1::1', 'local translation'],
    ['4000::1', 'reserved'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:a9fe:a9fe', 'metadata'],
    ['64:ff9b::10.0.0.1', 'private'],
    ['::ffff:0:192.168.1.1', 'private'],
    ['2606:4700::5efe:10.0.0.1', 'private'],
    ['2606:4700::200:5efe:127.0.0.1', 'loopback'],
    ['2606:4700::5efe:a9fe:a9fe', 'metadata'],
    ['fe80::5efe:8.8.8.8', 'link-local'],
  ])('%s: %s', (address, what) => {
    expect(closed.check(address)).toEqual({ ok: false, reason: expect.stringContaining(what) });
  });

  test.each([
    '1.1.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2606:4700::5efe:8.8.8.8',
    '2606:4700::1:5efe:0:a00:1',
  ])('but %s is public', (address) => {
    expect(closed.check(address)).toEqual({ ok: true });
  });
});

describe('an allowed network', () => {
  test('permits only its own addresses', () => {
    const policy = createNetworkPolicy({
      allowNetwork: ['10.1.0.0/16', 'fd00::/8', '127.0.0.9'],
      resolve: {},
    });
    expect(policy.check('10.1.2.3').ok).toBe(true);
    expect(policy.check('::ffff:10.1.2.3').ok).toBe(true);
    expect(policy.check('2606:4700::5efe:10.1.2.3').ok).toBe(true);
    expect(policy.check('10.2.0.1').ok).toBe(false);
    expect(policy.check('fd12::1').ok).toBe(true);
    expect(policy.check('fc00::1').ok).toBe(false);
    expect(policy.check('127.0.0.9').ok).toBe(true);
    expect(policy.check('127.0.0.8').ok).toBe(false);
  });

  test.each([
    ['10/8', 'not a network'],
    ['example.org/8', 'not a network'],
    ['', 'not a network'],
    ['10.0.0.0/8/8', 'not a network'],
    ['10.0.0.0/33', 'between 0 and 32'],
    ['10.0.0.0/', 'between 0 and 32'],
    ['10.0.0.0/-1', 'between 0 and 32'],
    ['::/129', 'between 0 and 128'],
  ])('cannot be written as "%s"', (text, why) => {
    expect(parseCidr(text)).toEqual({ ok: false, reason: expect.stringContaining(why) });
    expect(() => createNetworkPolicy({ allowNetwork: [text], resolve: {} })).toThrow(why);
  });
});

describe('connecting', () => {
  const startServer = () =>
    rawServer((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  const strictAgent = (resolve: Record<string, string> = {}) =>
    loopbackAgent({ policy: createNetworkPolicy({ allowNetwork: [], resolve }) });

  test.each(['127.0.0.1', '[::ffff:127.0.0.1]', '0x7f.1', '2130706433'])(
    'to the literal address %s is refused, and nothing is contacted',
    async (host) => {
      const server = await startServer();
      const url = new URL(`http://${host}:${server.port}/`).href;
      const failed = await sendForError(url, { agent: strictAgent() });
      expect(failed).toMatchObject({ errorKind: 'forbidden', startedAt: null });
      expect(failed.message).toContain('a loopback address (RFC 1122)');
      expect(server.connections()).toBe(0);
    },
  );

  test.each(['http://127.0.0.1:25/', 'http://mail.test:6667/', 'https://mail.test:993/'])(
    'to the port of another protocol is refused, and no name is looked up: %s',
    async (url) => {
      const agent = loopbackAgent({ lookup: () => Promise.reject(new Error('was looked up')) });
      const failed = await sendForError(url, { agent });
      expect(failed).toMatchObject({ errorKind: 'forbidden', startedAt: null });
      expect(failed.message).toContain('belongs to another protocol');
    },
  );

  test('to a name that resolves to a forbidden address is refused', async () => {
    const server = await startServer();
    const failed = await sendForError(`http://localhost:${server.port}/`, { agent: strictAgent() });
    expect(failed).toMatchObject({ errorKind: 'forbidden', startedAt: null });
    expect(server.connections()).toBe(0);
  });

  test('to a name with a configured address is checked by that address', async () => {
    const server = await startServer();
    const url = `http://staging.test:${server.port}/`;
    const resolve = { 'Staging.test': '127.0.0.1' };
    expect(await sendForError(url, { agent: strictAgent(resolve) })).toMatchObject({
      errorKind: 'forbidden',
    });
    expect(await sendForResponse(url, { agent: loopbackAgent({ resolve }) })).toMatchObject({ status: 200 });
    expect(server.received()).toContain(`host: staging.test:${server.port}`);
  });

  test('uses the very address that was checked, because the name is looked up once', async () => {
    const server = await startServer();
    const answers = ['127.0.0.1', '192.168.0.1'];
    let lookups = 0;
    const agent = loopbackAgent({
      lookup: async () => [{ address: answers[lookups++] ?? '', family: 4 }],
    });
    expect(await sendForResponse(`http://rebind.test:${server.port}/`, { agent })).toMatchObject({
      status: 200,
    });
    expect(lookups).toBe(1);
  });

  test('skips the forbidden addresses of a name', async () => {
    const server = await startServer();
    const agent = loopbackAgent({
      lookup: async () => [
        { address: '192.168.0.1', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
    });
    expect(await sendForResponse(`http://both.test:${server.port}/`, { agent })).toMatchObject({
      status: 200,
    });
  });

  test('under a strict policy never reuses a connection made under an open one', async () => {
    const server = await startServer();
    const url = `http://127.0.0.1:${server.port}/`;
    const pool = createAgentPool();
    const open = {
      allowNetwork: ['127.0.0.0/8'],
      resolve: {},
      connectTimeoutMs: 1_000,
    };
    expect(pool.agentFor(open)).toBe(pool.agentFor({ ...open }));
    expect(await send(url, { agent: pool.agentFor(open) })).toMatchObject({ kind: 'response' });
    const strict = pool.agentFor({ ...open, allowNetwork: [] });
    expect(await send(url, { agent: strict })).toMatchObject({ errorKind: 'forbidden' });
    await pool.destroy();
  });
});
