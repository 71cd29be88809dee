import { describe, expect, test } from 'vitest';
import { createRedactor, passwordsOf, secretsIn } from '../../src/core/redact.ts';

const SECRET = 'p"ss/w@rd 1';

describe('a secret is replaced', () => {
  const redact = createRedactor([SECRET]);

  test.each([
    ['in plain text', `login with ${SECRET} failed`, 'login with [redacted] failed'],
    [
      'in a URL',
      `https://example.org/?key=${encodeURIComponent(SECRET)}`,
      'https://example.org/?key=[redacted]',
    ],
    ['in JSON', JSON.stringify({ header: `Bearer ${SECRET}` }), '{"header":"Bearer [redacted]"}'],
    ['twice', `${SECRET} ${SECRET}`, '[redacted] [redacted]'],
  ])('%s', (_where, text, expected) => {
    expect(redact(text)).toBe(expected);
  });
});

test('the password of any URL is replaced, and nothing else of it', () => {
  const redact = createRedactor([]);
  expect(redact('connect to postgresql://amble:hunter2@db:5432/amble failed')).toBe(
    'connect to postgresql://amble:[redacted]@db:5432/amble failed',
  );
  expect(redact('{"url":"http://u:a@b@c.test/"}')).toBe('{"url":"http://u:[redacted]@c.test/"}');
  for (const harmless of ['http://a.test:8080/x@y', 'at 12:30 mail me@a.test', 'http://user@a.test/'])
    expect(redact(harmless)).toBe(harmless);
});

test('secrets of the environment are found by the names of variables, and in URLs', () => {
  const env = {
    TEMPORAL_API_KEY: 'key-1',
    AWS_SECRET_ACCESS_KEY: 'key-2',
    PGPASSWORD: 'key-3',
    TEMPORAL_TLS_CLIENT_KEY_DATA: 'key-4',
    TEMPORAL_GRPC_META_AUTHORIZATION: 'key-5',
    DATABASE_URL: 'postgresql://amble:k%2Fy@db/amble',
    HOME: '/root',
    AMBLE_DELAY: '5s',
  };
  expect(secretsIn(env)).toEqual(['key-1', 'key-2', 'key-3', 'key-4', 'key-5', 'k%2Fy', 'k/y']);
});

test('a malformed URL has no password, and a malformed password is used as it is', () => {
  expect(passwordsOf('nonsense')).toEqual([]);
  expect(passwordsOf('postgresql://a:%zz@db/x')).toEqual(['%zz', '%zz']);
});

test('a short value of a variable is not searched for: it would be found in every word', () => {
  expect(createRedactor(['true'])('it is true')).toBe('it is true');
});
