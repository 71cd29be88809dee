import { describe, expect, test } from 'vitest';
import type { ResponseExchange } from '../../src/http/index.ts';
import { MAX_ROBOTS_BYTES, robotsVerdict } from '../../src/robots/index.ts';

const URL_ASKED = 'https://example.org/robots.txt';

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
    tookMs: 2,
    cut: null,
    ...overrides,
  };
}

describe('an answer to the request for robots.txt', () => {
  test('2xx gives rules, whatever its bytes and with its BOM dropped', () => {
    const body = Buffer.from('\ufeffUser-agent: *\nDisallow: /\n');
    expect(robotsVerdict(response({ body }), URL_ASKED)).toEqual({
      kind: 'rules',
      text: 'User-agent: *\nDisallow: /\n',
    });
    expect(robotsVerdict(response({ body: Buffer.from([0xff, 0xfe]) }), URL_ASKED).kind).toBe('rules');
    expect(robotsVerdict(response({ status: 204, body: null }), URL_ASKED)).toEqual({
      kind: 'rules',
      text: '',
    });
  });

  test('in bytes that are not UTF-8 keeps each of them, escaped', () => {
    const body = Buffer.from('User-agent: *\nDisallow: /caf\xe9', 'latin1');
    expect(robotsVerdict(response({ body }), URL_ASKED)).toEqual({
      kind: 'rules',
      text: 'User-agent: *\nDisallow: /caf%E9',
    });
  });

  test.each([
    ['half a BOM', Buffer.from('\xef\xbbUser-agent: *', 'latin1')],
    ['UTF-16', Buffer.from('\ufeffUser-agent: *', 'utf16le')],
    ['UTF-16, the other way round', Buffer.from('\ufeffUser-agent: *', 'utf16le').swap16()],
    ['UTF-16 without its BOM', Buffer.from('User-agent: *', 'utf16le')],
    ['the same, the other way round', Buffer.from('User-agent: *', 'utf16le').swap16()],
  ])('may begin with %s', (_, body) => {
    expect(robotsVerdict(response({ body }), URL_ASKED)).toEqual({ kind: 'rules', text: 'User-agent: *' });
  });

  test('too long is read up to 500 KiB, to the last whole line', () => {
    const line = 'Disallow: /a/path\n';
    const body = Buffer.from(line.repeat(40_000));
    const verdict = robotsVerdict(response({ body }), URL_ASKED);
    const lines = Math.floor(MAX_ROBOTS_BYTES / line.length);
    expect(verdict).toEqual({ kind: 'rules', text: line.repeat(lines) });
  });

  test('cut off by the request loses its half line too', () => {
    const body = Buffer.from('Disallow: /a\nDisallow: /');
    const verdict = robotsVerdict(response({ body, cut: 'too-large' }), URL_ASKED);
    expect(verdict).toEqual({ kind: 'rules', text: 'Disallow: /a\n' });
  });

  test('too large to be read at all tells nothing of what is allowed: the origin is held', () => {
    const verdict = robotsVerdict(response({ body: null, cut: 'too-large' }), URL_ASKED);
    expect(verdict).toEqual({ kind: 'unreachable', reason: 'Nothing of the body of robots.txt was read.' });
  });

  test.each([400, 401, 403, 404, 410, 451])('%i means that there is none', (status) => {
    expect(robotsVerdict(response({ status }), URL_ASKED).kind).toBe('allow-all');
  });

  test.each([429, 500, 503, 599, 600])('%i holds the origin', (status) => {
    expect(robotsVerdict(response({ status }), URL_ASKED).kind).toBe('unreachable');
  });

  test('no answer holds the origin and says why', () => {
    const failed = {
      kind: 'error',
      errorKind: 'refused',
      message: 'Refused.',
      startedAt: null,
      tookMs: 1,
    } as const;
    expect(robotsVerdict(failed, URL_ASKED)).toEqual({ kind: 'unreachable', reason: 'Refused.' });
  });

  test('3xx is to be followed, relative to where it came from', () => {
    const moved = response({ status: 301, headers: { location: '/other.txt' } });
    expect(robotsVerdict(moved, URL_ASKED)).toEqual({
      kind: 'redirect',
      to: 'https://example.org/other.txt',
    });
  });

  test.each([{}, { location: 'mailto:a@example.org' }])(
    '3xx that leads nowhere means that there is none (%j)',
    (headers) => {
      expect(robotsVerdict(response({ status: 302, headers }), URL_ASKED).kind).toBe('allow-all');
    },
  );
});
