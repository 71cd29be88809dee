import { describe, expect, test } from 'vitest';
import type { ResponseExchange } from '../../src/http/index.ts';
import { MAX_ROBOTS_BYTES, readRobotsResponse } from '../../src/robots/index.ts';

const ROBOTS_URL = 'https://example.org/robots.txt';

function response(overrides: Partial<ResponseExchange>): ResponseExchange {
  const body = Buffer.from('');
  return {
    kind: 'response',
    startedAt: 0,
    status: 200,
    headers: {},
    body,
    bodyBytes: 0,
    latencyMs: 1,
    durationMs: 2,
    cut: null,
    ...overrides,
  };
}

describe('a response to the request for robots.txt', () => {
  test('with status 2xx gives rules, whatever its bytes, without its BOM', () => {
    const body = Buffer.from('\ufeffUser-agent: *\nDisallow: /\n');
    expect(readRobotsResponse(response({ body }), ROBOTS_URL)).toEqual({
      kind: 'rules',
      text: 'User-agent: *\nDisallow: /\n',
    });
    expect(readRobotsResponse(response({ body: Buffer.from([0xff, 0xfe]) }), ROBOTS_URL).kind).toBe('rules');
    expect(readRobotsResponse(response({ status: 204, body: null }), ROBOTS_URL)).toEqual({
      kind: 'rules',
      text: '',
    });
  });

  test('that is not UTF-8 keeps each byte, escaped', () => {
    const body = Buffer.from('User-agent: *\nDisallow: /caf\xe9', 'latin1');
    expect(readRobotsResponse(response({ body }), ROBOTS_URL)).toEqual({
      kind: 'rules',
      text: 'User-agent: *\nDisallow: /caf%E9',
    });
  });

  test.each([
    ['half a BOM', Buffer.from('\xef\xbbUser-agent: *', 'latin1')],
    ['UTF-16', Buffer.from('\ufeffUser-agent: *', 'utf16le')],
    ['UTF-16, big-endian', Buffer.from('\ufeffUser-agent: *', 'utf16le').swap16()],
    ['UTF-16 without its BOM', Buffer.from('User-agent: *', 'utf16le')],
    ['UTF-16, big-endian, without its BOM', Buffer.from('User-agent: *', 'utf16le').swap16()],
  ])('may begin with %s', (_, body) => {
    expect(readRobotsResponse(response({ body }), ROBOTS_URL)).toEqual({
      kind: 'rules',
      text: 'User-agent: *',
    });
  });

  test('that is too long is read up to 500 KiB, to the last complete line', () => {
    const line = 'Disallow: /a/path\n';
    const body = Buffer.from(line.repeat(40_000));
    const verdict = readRobotsResponse(response({ body }), ROBOTS_URL);
    const lines = Math.floor(MAX_ROBOTS_BYTES / line.length);
    expect(verdict).toEqual({ kind: 'rules', text: line.repeat(lines) });
  });

  test('that was cut while it was read loses its incomplete line', () => {
    const body = Buffer.from('Disallow: /a\nDisallow: /');
    const verdict = readRobotsResponse(response({ body, cut: 'too-large' }), ROBOTS_URL);
    expect(verdict).toEqual({ kind: 'rules', text: 'Disallow: /a\n' });
  });

  test('that is too large to be read at all holds the origin', () => {
    const verdict = readRobotsResponse(response({ body: null, cut: 'too-large' }), ROBOTS_URL);
    expect(verdict).toEqual({ kind: 'unreachable', reason: 'Its body was not read.' });
  });

  test.each([400, 401, 403, 404, 410, 451])('with status %i means that the site has none', (status) => {
    expect(readRobotsResponse(response({ status }), ROBOTS_URL).kind).toBe('allow-all');
  });

  test.each([429, 500, 503, 599, 600])('with status %i holds the origin', (status) => {
    expect(readRobotsResponse(response({ status }), ROBOTS_URL).kind).toBe('unreachable');
  });

  test('that never came holds the origin, with the reason', () => {
    const failed = {
      kind: 'error',
      errorKind: 'refused',
      message: 'Refused.',
      startedAt: null,
      durationMs: 1,
    } as const;
    expect(readRobotsResponse(failed, ROBOTS_URL)).toEqual({ kind: 'unreachable', reason: 'Refused.' });
  });

  test('with status 3xx is to be followed, relative to the URL of the request', () => {
    const moved = response({ status: 301, headers: { location: '/other.txt' } });
    expect(readRobotsResponse(moved, ROBOTS_URL)).toEqual({
      kind: 'redirect',
      to: 'https://example.org/other.txt',
    });
  });

  test.each([{}, { location: 'mailto:a@example.org' }])(
    'with status 3xx that leads nowhere means that the site has none (%j)',
    (headers) => {
      expect(readRobotsResponse(response({ status: 302, headers }), ROBOTS_URL).kind).toBe('allow-all');
    },
  );
});
