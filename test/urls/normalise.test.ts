import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { MAX_URL_LENGTH, normaliseUrl, urlHash } from '../../src/urls/index.ts';

describe('a URL is normalised', () => {
  test.each([
    ['HTTP://Example.ORG', 'http://example.org/'],
    ['http://example.org:80/', 'http://example.org/'],
    ['https://example.org:443/', 'https://example.org/'],
    ['http://example.org:8080/', 'http://example.org:8080/'],
    ['http://example.org/a/../b/./c', 'http://example.org/b/c'],
    ['http://example.org/page#part', 'http://example.org/page'],
    ['http://user:secret@example.org/', 'http://example.org/'],
    ['http://example.org/%e4%f6?q=%c3%a4', 'http://example.org/%E4%F6?q=%C3%A4'],
    ['http://example.org/ä b', 'http://example.org/%C3%A4%20b'],
    ['http://bücher.example/', 'http://xn--bcher-kva.example/'],
    ['  http://example.org/a\n', 'http://example.org/a'],
    ['http://0x7f.1/', 'http://127.0.0.1/'],
    ['http://example.org./a', 'http://example.org/a'],
    ['http://127.0.0.1./', 'http://127.0.0.1/'],
    ['http://例え。jp。/', 'http://xn--r8jz45g.jp/'],
    ['http://example.org/?b=2&a=1', 'http://example.org/?b=2&a=1'],
  ])('%j to %j', (raw, url) => {
    expect(normaliseUrl(raw)).toEqual({ ok: true, url });
  });

  test('relative to its base', () => {
    expect(normaliseUrl('../x?y#z', 'https://example.org/a/b/c')).toEqual({
      ok: true,
      url: 'https://example.org/a/x?y',
    });
    expect(normaliseUrl('//other.org/x', 'https://example.org/')).toEqual({
      ok: true,
      url: 'https://other.org/x',
    });
  });

  test.each([
    ['', 'not a valid URL'],
    ['example.org', 'not a valid URL'],
    ['http://', 'not a valid URL'],
    ['http://exa mple.org/', 'not a valid URL'],
    ['http://./', 'not a valid URL'],
    ['http://\u00c3\u0080', 'not a valid URL'],
    ['ftp://example.org/', 'scheme is ftp'],
    ['mailto:a@example.org', 'scheme is mailto'],
    ['javascript:void(0)', 'scheme is javascript'],
    [`http://example.org/${'x'.repeat(MAX_URL_LENGTH)}`, 'longer than 2000'],
    [`http://${'a.'.repeat(126)}ab/`, 'host name is longer than 253'],
    [`${' '.repeat(50)}data:text/plain,${'x'.repeat(100_000)}`, 'scheme is data'],
    [`data:text/plain,${'x'.repeat(100_000)}`, 'scheme is data'],
  ])('or refused: %.40j', (raw, reason) => {
    expect(normaliseUrl(raw)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
  });
});

describe('normalising', () => {
  const nearUrl = fc
    .tuple(
      fc.constantFrom('http://', 'https://', 'HTTP://', '//', '/', ''),
      fc.constantFrom('example.org', 'ExAmple.org:80', 'u:p@h.test', '[::1]:8080', 'ü.example', '1.2.3'),
      fc.array(
        fc.constantFrom(
          '/',
          '.',
          '..',
          '%2f',
          '%C3%a4',
          '%',
          'ä',
          ' ',
          '?',
          '#',
          '&',
          '=',
          '\\',
          '\t',
          'a',
          '\ud800',
        ),
      ),
    )
    .map(([scheme, host, rest]) => scheme + host + rest.join(''));
  const anyText = fc.oneof(
    nearUrl,
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.string({ unit: 'binary' }),
  );

  test('is idempotent', () => {
    fc.assert(
      fc.property(anyText, (raw) => {
        const once = normaliseUrl(raw, 'http://base.example/dir/page');
        fc.pre(once.ok);
        expect(normaliseUrl(once.url)).toEqual(once);
      }),
      { numRuns: 2_000 },
    );
  });

  test('leaves only ASCII of bounded length, without credentials and fragment', () => {
    fc.assert(
      fc.property(anyText, (raw) => {
        const result = normaliseUrl(raw, 'http://base.example/dir/page');
        fc.pre(result.ok);
        const { username, password, hash } = new URL(result.url);
        expect([username, password, hash]).toEqual(['', '', '']);
        expect(result.url).toMatch(/^[!-~]{1,2000}$/);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a host name', () => {
  const label = 'abcdefghi.';

  test('may have 253 characters, with or without a final dot', () => {
    const host = `${label.repeat(25)}abc`;
    expect(normaliseUrl(`http://${host}/`)).toEqual({ ok: true, url: `http://${host}/` });
    expect(normaliseUrl(`http://${host}./`)).toEqual({ ok: true, url: `http://${host}/` });
    expect(normaliseUrl(`http://${host}d/`)).toMatchObject({ ok: false, problem: 'invalid' });
  });

  test('is not limited by the length of the credentials, path or query around it', () => {
    const long = 'x'.repeat(900);
    expect(normaliseUrl(`http://${long}@example.org/${long}?${'例'.repeat(90)}`)).toMatchObject({ ok: true });
    expect(normaliseUrl(`/${'例'.repeat(200)}`, 'http://example.org/')).toMatchObject({ ok: true });
  });

  const cjk = Array.from({ length: 7_900 }, (_, n) => String.fromCharCode(0x4e00 + n)).join('');
  test.each([
    ['absolute', `http://${cjk}/`],
    ['with credentials', `https://a:b@${cjk}/`],
    ['relative to the scheme', `//${cjk}/`],
    ['with backslashes', `\\\\${cjk}\\`],
    ['with mixed slashes', `http:\\/\\${cjk}`],
    ['without slashes', `http:${cjk}`],
    ['with tabs and line breaks', ` ht\ntp:/\t/${cjk}`],
    ['of another scheme', `ftp://${cjk}/`],
    ['with labels that are too long', `http://${cjk.slice(0, 64)}.example/`],
  ])('that would take long to parse is refused unparsed: %s', (_, raw) => {
    const parsed = vi.spyOn(globalThis, 'URL');
    onTestFinished(() => parsed.mockRestore());
    expect(normaliseUrl(raw, 'http://example.org/')).toMatchObject({
      ok: false,
      problem: 'invalid',
      reason: 'its host name is longer than 253 characters',
    });
    expect(parsed).not.toHaveBeenCalled();
  });
});

test('the hash of a URL is its SHA-256', () => {
  expect(urlHash('http://example.org/').toString('hex')).toBe(
    '781bc04ec9bd049cdfacaec4ae2026102118d13c79413246f0c88eeef6ebec4e',
  );
});
