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
import { serverElsewhere } from './support/server-elsewhere.ts';
import { closedPort, rawServer } from './support/servers.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const open = () => ({ go: true, startedAt: STARTED_AT }) as const;
const shut = () => ({ go: false, reason: 'the lease ran out' }) as const;
const agentForSecure = () => loopbackAgent({ ca: CERTIFICATE, resolve: { 'secure.test': '127.0.0.1' } });

describe('the gate', () => {
  test('that opens lets the request out, and its start time comes back', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const response = await sendForResponse(`http://127.0.0.1:${server.port}/a?b`, {
      headers: { 'user-agent': 'Amble/1' },
    });
    expect(response).toMatchObject({ status: 200, startedAt: STARTED_AT, cut: null });
    expect(server.received()).toMatch(/^GET \/a\?b HTTP\/1\.1\r\n/);
    expect(server.received()).toContain('user-agent: Amble/1\r\n');
  });

  test('that stays shut on a new connection lets not one byte out', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const exchange = await send(`http://127.0.0.1:${server.port}/`, { gate: shut });
    expect(exchange).toEqual({ kind: 'refused', reason: 'the lease ran out', connected: true });
    await server.firstClosed;
    expect(server.received()).toBe('');
  });

  test('that stays shut on a new secure connection lets no request out', async () => {
    const server = await rawServer((socket) => socket.write(OK), { secure: true });
    const exchange = await send(`https://secure.test:${server.port}/`, {
      agent: agentForSecure(),
      gate: shut,
    });
    expect(exchange).toMatchObject({ kind: 'refused', connected: true });
    await server.firstClosed;
    expect(server.received()).toBe('');
  });

  test.each([
    { scheme: 'http', secure: false },
    { scheme: 'https', secure: true },
  ])(
    'that shuts on a kept-alive $scheme connection lets not one byte of the next request out',
    async ({ scheme, secure }) => {
      const server = await rawServer((socket) => socket.write(OK), { secure });
      const agent = agentForSecure();
      const origin = `${scheme}://secure.test:${server.port}`;
      await sendForResponse(`${origin}/first`, { agent });
      await untilFree(agent);
      const first = server.received();
      const exchange = await send(`${origin}/second`, { agent, gate: shut });
      expect(exchange).toMatchObject({ kind: 'refused', connected: false });
      await server.firstClosed;
      expect(server.received()).toBe(first);
      expect(server.connections()).toBe(1);
    },
  );

  test.each([
    { scheme: 'http', secure: false },
    { scheme: 'https', secure: true },
  ])(
    'is the last thing before the wire: $scheme bytes are out before its tick ends',
    async ({ scheme, secure }) => {
      const server = await serverElsewhere({ secure });
      let heard: string | null = null;
      await sendForResponse(`${scheme}://secure.test:${server.port}/`, {
        agent: agentForSecure(),
        gate() {
          // Runs after the write and before the event loop turns: whatever were put off until then would not be heard.
          process.nextTick(() => {
            heard = server.waitForRequest(2_000);
          });
          return open();
        },
      });
      expect(heard).toBe('request heard');
    },
  );

  test('is asked only when the connection stands', async () => {
    let asked = 0;
    const gate = () => {
      asked += 1;
      return open();
    };
    const server = await rawServer((socket) => socket.write(OK));
    await sendForResponse(`http://127.0.0.1:${server.port}/`, { gate });
    expect(asked).toBe(1);
    const failed = await sendForError(`http://127.0.0.1:${await closedPort()}/`, { gate });
    expect(failed).toMatchObject({ errorKind: 'refused', startedAt: null });
    expect(asked).toBe(1);
  });

  test('opens once: a second dispatch of the same request is stopped before it is written', async () => {
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
    expect(failed.message).toContain('not sent a second time');
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
