import type { Dispatcher } from 'undici';
import { describe, expect, test } from 'vitest';
import { CERTIFICATE } from './support/certificate.ts';
import {
  loopbackAgent,
  STARTED_AT,
  send,
  sendForError,
  sendForResponse,
  untilFree,
} from './support/fetching.ts';
import { closedPort, rawServer } from './support/servers.ts';
import { threadedServer } from './support/threaded-server.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const permit = () => ({ go: true, startedAt: STARTED_AT }) as const;
const refuse = () => ({ go: false, reason: 'the lease ran out' }) as const;
const agentForSecure = () => loopbackAgent({ ca: CERTIFICATE, resolve: { 'secure.test': '127.0.0.1' } });

describe('mayStart', () => {
  test('that permits the request determines its start time', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const response = await sendForResponse(`http://127.0.0.1:${server.port}/a?b`, {
      headers: { 'user-agent': 'Amble/1' },
    });
    expect(response).toMatchObject({ status: 200, startedAt: STARTED_AT, cut: null });
    expect(server.received()).toMatch(/^GET \/a\?b HTTP\/1\.1\r\n/);
    expect(server.received()).toContain('user-agent: Amble/1\r\n');
  });

  test('that refuses on a new connection lets no byte out', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const exchange = await send(`http://127.0.0.1:${server.port}/`, { mayStart: refuse });
    expect(exchange).toEqual({
      kind: 'refused',
      reason: 'the lease ran out',
      connectedMs: expect.any(Number),
    });
    await server.firstClosed;
    expect(server.received()).toBe('');
  });

  test('that refuses on a new secure connection lets no request out', async () => {
    const server = await rawServer((socket) => socket.write(OK), { secure: true });
    const exchange = await send(`https://secure.test:${server.port}/`, {
      agent: agentForSecure(),
      mayStart: refuse,
    });
    expect(exchange).toMatchObject({ kind: 'refused', connectedMs: expect.any(Number) });
    await server.firstClosed;
    expect(server.received()).toBe('');
  });

  test.each([
    { scheme: 'http', secure: false },
    { scheme: 'https', secure: true },
  ])(
    'that refuses on a kept-alive $scheme connection lets no byte of the next request out',
    async ({ scheme, secure }) => {
      const server = await rawServer((socket) => socket.write(OK), { secure });
      const agent = agentForSecure();
      const origin = `${scheme}://secure.test:${server.port}`;
      await sendForResponse(`${origin}/first`, { agent });
      await untilFree(agent);
      const first = server.received();
      const exchange = await send(`${origin}/second`, { agent, mayStart: refuse });
      expect(exchange).toMatchObject({ kind: 'refused', connectedMs: null });
      await server.firstClosed;
      expect(server.received()).toBe(first);
      expect(server.connections()).toBe(1);
    },
  );

  test.each([
    { scheme: 'http', secure: false },
    { scheme: 'https', secure: true },
  ])(
    'is called right before the write: $scheme bytes are sent before its tick ends',
    async ({ scheme, secure }) => {
      const server = await threadedServer({ secure });
      let arrived: string | null = null;
      await sendForResponse(`${scheme}://secure.test:${server.port}/`, {
        agent: agentForSecure(),
        mayStart() {
          // Runs after the write and before the next turn of the event loop, in which a delayed write would happen.
          process.nextTick(() => {
            arrived = server.waitForRequest(2_000);
          });
          return permit();
        },
      });
      expect(arrived).toBe('request arrived');
    },
  );

  test('a secure connection that is closed as soon as it is open fails the request at once', async () => {
    const server = await rawServer(() => {}, { secure: true, onConnected: (socket) => socket.destroy() });
    const failed = await sendForError(`https://secure.test:${server.port}/`, { agent: agentForSecure() });
    expect(failed.errorKind).toBe('reset');
  });

  test('is called only once there is a connection', async () => {
    let calls = 0;
    const mayStart = () => {
      calls += 1;
      return permit();
    };
    const server = await rawServer((socket) => socket.write(OK));
    await sendForResponse(`http://127.0.0.1:${server.port}/`, { mayStart });
    expect(calls).toBe(1);
    const failed = await sendForError(`http://127.0.0.1:${await closedPort()}/`, { mayStart });
    expect(failed).toMatchObject({ errorKind: 'refused', startedAt: null });
    expect(calls).toBe(1);
  });

  test('permits a request once: a second dispatch is stopped before it is written', async () => {
    const aborted: string[] = [];
    const agent = Object.assign(loopbackAgent(), {
      dispatch(_: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
        for (const dispatch of ['first', 'second']) {
          handler.onRequestStart?.(
            controllerThat(() => aborted.push(dispatch)),
            {},
          );
        }
        return true;
      },
    });
    const failed = await sendForError('http://127.0.0.1/', { agent });
    expect(aborted).toEqual(['second']);
    expect(failed).toMatchObject({ errorKind: 'reset', startedAt: STARTED_AT });
    expect(failed.message).toContain('not sent again');
  });

  test('sees a request once when the server drops a kept-alive connection as it arrives', async () => {
    let requests = 0;
    const server = await rawServer((socket) => {
      requests += 1;
      if (requests === 1) socket.write(OK);
      else socket.destroy();
    });
    const agent = loopbackAgent();
    await sendForResponse(`http://127.0.0.1:${server.port}/one`, { agent });
    await untilFree(agent);
    const failed = await sendForError(`http://127.0.0.1:${server.port}/two`, { agent });
    expect(failed).toMatchObject({ errorKind: 'reset', startedAt: STARTED_AT });
    expect(server.received().match(/GET \/two/g)).toHaveLength(1);
    expect(server.connections()).toBe(1);
  });
});

function controllerThat(onAbort: () => void): Dispatcher.DispatchController {
  return { aborted: false, paused: false, reason: null, abort: onAbort, pause() {}, resume() {} };
}
