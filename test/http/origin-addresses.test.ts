import { describe, expect, it, test } from 'vitest';
import { addressBlockOf } from '../../src/http/index.ts';
import { loopbackAgent, send, sendForResponse, untilFree } from './support/fetching.ts';
import { rawServer } from './support/servers.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const go = async () => ({ go: true }) as const;

/** A name with several addresses, in this order. */
const lookup =
  (...addresses: string[]) =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: 4 })));

describe('admission to an address', () => {
  it('comes before the connection, with the address that the request goes to', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const admitted: [string, number][] = [];
    const admit = async (address: string) => {
      admitted.push([address, server.connections()]);
      return { go: true } as const;
    };
    const agent = loopbackAgent({ lookup: lookup('127.0.0.1', '127.0.0.2') });
    const url = `http://named.test:${server.port}/`;
    await sendForResponse(url, { agent, admit });
    await untilFree(agent);
    await sendForResponse(url, { agent, admit });
    expect(admitted).toEqual([
      ['127.0.0.1', 0],
      ['127.0.0.1', 1],
    ]);
    expect(server.connections()).toBe(1);
  });

  it('that is refused lets nothing out', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const admit = async () => ({ go: false, reason: 'the address is busy' }) as const;
    const exchange = await send(`http://127.0.0.1:${server.port}/`, { admit });
    expect(exchange).toEqual({ kind: 'refused', reason: 'the address is busy', connected: false });
    expect(server.connections()).toBe(0);
  });

  it('is not asked for if the name cannot be resolved', async () => {
    const agent = loopbackAgent({
      lookup: () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })),
    });
    const admit = () => Promise.reject(new Error('called'));
    const exchange = await send('http://named.test/', { agent, admit });
    expect(exchange).toMatchObject({ kind: 'error', errorKind: 'dns', startedAt: null });
  });

  it('that fails on our side is not the site’s failure', async () => {
    const admit = () => Promise.reject(new Error('the database is unavailable'));
    await expect(send('http://127.0.0.1:9999/', { admit })).rejects.toThrow('the database is unavailable');
  });

  it('ends with the request if that is aborted meanwhile', async () => {
    const abort = new AbortController();
    const admit = async () => {
      abort.abort();
      throw abort.signal.reason;
    };
    const exchange = await send('http://127.0.0.1:9999/', { admit, signal: abort.signal });
    expect(exchange).toMatchObject({ kind: 'error', errorKind: 'aborted' });
  });
});

describe('a name whose first address does not answer', () => {
  it('has one request refused; the next one is admitted to the address that does', async () => {
    const server = await rawServer((socket) => socket.write(OK), { address: '127.0.0.3' });
    const agent = loopbackAgent({ lookup: lookup('127.0.0.2', '127.0.0.3') });
    const url = `http://named.test:${server.port}/`;
    const exchange = await send(url, { agent, admit: go });
    const reason = 'it connected to 127.0.0.3 instead of 127.0.0.2';
    expect(exchange).toEqual({ kind: 'refused', reason, connected: true });
    expect(server.received()).toBe('');
    const admitted: string[] = [];
    await sendForResponse(url, {
      agent,
      admit: async (address) => {
        admitted.push(address);
        return { go: true };
      },
    });
    expect(admitted).toEqual(['127.0.0.3']);
  });
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['64:ff9b::192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
])('%s counts as %s', (address, block) => {
  expect(addressBlockOf(address)).toBe(block);
});
