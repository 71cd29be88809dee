import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLookup } from '../../src/http/index.ts';
import { loopbackAgent, send, sendForError, sendForResponse } from './support/fetching.ts';
import { nameServer } from './support/name-server.ts';
import { httpServer } from './support/servers.ts';

async function hostsFile(text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'amble-hosts-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'hosts');
  await writeFile(path, text);
  return path;
}

describe('a name', () => {
  test('has the addresses of its name server, IPv4 first', async () => {
    const servers = [await nameServer({ 'both.test': ['192.0.2.1', '192.0.2.2', '2001:db8::1'] })];
    expect(await createLookup({ servers })('Both.test')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ]);
  });

  test('may have IPv6 addresses only', async () => {
    const servers = [await nameServer({ 'six.test': ['2001:db8::6'] })];
    expect(await createLookup({ servers })('six.test')).toEqual([{ address: '2001:db8::6', family: 6 }]);
  });

  test('is not delayed by a server that never answers for IPv6', async () => {
    const servers = [await nameServer({ 'four.test': ['192.0.2.4'] }, { silentFor: 'AAAA' })];
    expect(await createLookup({ servers })('four.test')).toEqual([{ address: '192.0.2.4', family: 4 }]);
  });

  test('that does not exist is an error with its code', async () => {
    const servers = [await nameServer({})];
    await expect(createLookup({ servers })('nowhere.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  test('in the hosts file has the address written there, even after a change', async () => {
    const servers = [await nameServer({})];
    const path = await hostsFile(
      '# ours\n192.0.2.7 staging.test Alias.test # both\n::1 staging.test\nnonsense x\n',
    );
    const lookup = createLookup({ servers, hostsFile: path });
    expect(await lookup('staging.test')).toEqual([
      { address: '192.0.2.7', family: 4 },
      { address: '::1', family: 6 },
    ]);
    expect(await lookup('ALIAS.test.')).toEqual([{ address: '192.0.2.7', family: 4 }]);
    await writeFile(path, '192.0.2.88 staging.test\n');
    expect(await lookup('staging.test')).toEqual([{ address: '192.0.2.88', family: 4 }]);
  });

  test('that ends in localhost is this machine, whatever the name servers answer', async () => {
    const servers = [await nameServer({ 'a.localhost': ['192.0.2.1'] })];
    const lookup = createLookup({ servers, hostsFile: await hostsFile('') });
    expect(await lookup('a.localhost')).toContainEqual({ address: '127.0.0.1', family: 4 });
  });
});

test('names with an unresponsive server do not delay another name, however many there are', async () => {
  const servers = [await nameServer({ 'quick.test': ['127.0.0.1'] }, { silentOn: /^slow/ })];
  const agent = loopbackAgent({ lookup: createLookup({ servers }), connectTimeoutMs: 1_500 });
  const port = await httpServer((_, response) => response.end('here'));
  const slow = Array.from({ length: 50 }, (_, n) => sendForError(`http://slow${n}.test:${port}/`, { agent }));
  let slowOnesDone = 0;
  for (const one of slow) void one.then(() => (slowOnesDone += 1));
  expect(await sendForResponse(`http://quick.test:${port}/`, { agent })).toMatchObject({ status: 200 });
  expect(slowOnesDone).toBe(0);
  expect((await Promise.all(slow)).map(({ errorKind }) => errorKind)).toEqual(
    Array(50).fill('connect-timeout'),
  );
});

describe('a lookup that a name server does not answer', () => {
  const admit = async () => ({ go: true }) as const;

  test('ends with the request if that is aborted', async () => {
    const abort = new AbortController();
    const servers = [await nameServer({}, { silentOn: /./ })];
    const agent = loopbackAgent({ lookup: createLookup({ servers }) });
    const sent = sendForError('http://any.test/', { agent, admit, signal: abort.signal });
    abort.abort();
    expect(await sent).toMatchObject({ errorKind: 'aborted' });
  });

  test('fails its request when connecting would have, and counts until its query has ended', async () => {
    const queries: ((error: Error) => void)[] = [];
    const lookup = () => new Promise<never>((_, reject) => queries.push(reject));
    const agent = loopbackAgent({ lookup, connectTimeoutMs: 100 });
    let open = 0;
    const admitLookup = async () => {
      open += 1;
      return { go: true, ended: () => (open -= 1) } as const;
    };
    const failed = await sendForError('http://any.test/', { agent, admit, admitLookup });
    expect(failed).toMatchObject({ errorKind: 'dns', startedAt: null });
    expect(failed.message).toContain('did not answer in time');
    expect(open).toBe(1);
    queries[0]?.(new Error('the query timed out'));
    await expect.poll(() => open).toBe(0);
  });
});

test('a name is looked up only if that is admitted, and an address or a name that is given without', async () => {
  const asked: string[] = [];
  const lookup = async (name: string) => {
    asked.push(name);
    return [{ address: '127.0.0.1', family: 4 }];
  };
  const agent = loopbackAgent({ lookup, resolve: { 'given.test': '127.0.0.1' } });
  const port = await httpServer((_, response) => response.end('here'));
  const options = {
    agent,
    admit: async () => ({ go: true }) as const,
    admitLookup: async () => ({ go: false, reason: 'too many lookups' }) as const,
  };
  const refused = { kind: 'refused', reason: 'too many lookups', connectedMs: null };
  expect(await send(`http://any.test:${port}/`, options)).toEqual(refused);
  expect(asked).toEqual([]);
  for (const host of ['127.0.0.1', 'given.test'])
    expect(await send(`http://${host}:${port}/`, options)).toMatchObject({ status: 200 });
});

test('an unreachable name server is a failed lookup, not a refused connection', async () => {
  const servers = ['127.0.0.1:9'];
  const agent = loopbackAgent({ lookup: createLookup({ servers }) });
  expect(await sendForError('http://any.test/', { agent })).toMatchObject({
    errorKind: 'dns',
    startedAt: null,
  });
});
