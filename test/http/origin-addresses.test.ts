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
    expect(exchange).toEqual({ kind: 'refused', reason: 'the address is busy', connectedMs: null });
    expect(server.connections()).toBe(0);
  });

  it('is no permission to use a connection that was meanwhile made to another address', async () => {
    const server = await rawServer((socket) => socket.write(OK), { address: '0.0.0.0' });
    const answers = ['127.0.0.2', '127.0.0.3'];
    const agent = loopbackAgent({ lookup: () => lookup(answers.shift() ?? '127.0.0.4')() });
    const url = `http://named.test:${server.port}/`;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const waiting = send(`${url}waiting`, { agent, admit: () => released.then(go) });
    await expect.poll(() => answers).toEqual(['127.0.0.3']);
    await sendForResponse(`${url}first`, { agent, admit: go });
    await untilFree(agent);
    release();
    const reason = 'it connected to 127.0.0.3 instead of 127.0.0.2';
    expect(await waiting).toEqual({ kind: 'refused', reason, connectedMs: null });
    expect(server.received()).toContain('GET /first ');
    expect(server.received()).not.toContain('GET /waiting ');
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
  it('is connected to at no other one without admission there, which the next request has', async () => {
    const server = await rawServer((socket) => socket.write(OK), { address: '127.0.0.3' });
    const agent = loopbackAgent({ lookup: lookup('127.0.0.2', '127.0.0.3') });
    const url = `http://named.test:${server.port}/`;
    const exchange = await send(url, { agent, admit: go });
    const host = `named.test:${server.port}`;
    const reason = `The connection to ${host} was refused. ${host} has other addresses.`;
    expect(exchange).toEqual({ kind: 'refused', reason, connectedMs: expect.any(Number) });
    expect(server.connections()).toBe(0);
    const admitted: string[] = [];
    const admit = async (address: string) => {
      admitted.push(address);
      return { go: true } as const;
    };
    for (let n = 0; n < 2; n += 1) {
      await sendForResponse(url, { agent, admit });
      await untilFree(agent);
    }
    expect(admitted).toEqual(['127.0.0.3', '127.0.0.3']);
  });

  it('is unreachable once each of its addresses was tried', async () => {
    const agent = loopbackAgent({ lookup: lookup('127.0.0.2', '127.0.0.3') });
    const kinds = await kindsOf(4, agent);
    expect(kinds).toEqual(['refused', 'error', 'refused', 'error']);
  });

  it('is unreachable after three addresses, however many its name server makes up', async () => {
    let lookups = 0;
    const agent = loopbackAgent({
      lookup: () => {
        lookups += 1;
        return lookup(`127.0.1.${lookups}`, `127.0.2.${lookups}`)();
      },
    });
    expect(await kindsOf(6, agent)).toEqual(['refused', 'refused', 'error', 'refused', 'refused', 'error']);
  });
});

/** Of exchanges with a port that nothing listens on at these addresses. */
async function kindsOf(count: number, agent: ReturnType<typeof loopbackAgent>): Promise<string[]> {
  const { port } = await rawServer((socket) => socket.destroy(), { address: '127.0.0.9' });
  const kinds: string[] = [];
  for (let n = 0; n < count; n += 1)
    kinds.push((await send(`http://named.test:${port}/`, { agent, admit: go })).kind);
  return kinds;
}

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
