import { describe, expect, test } from 'vitest';
import { announcedSitemaps, looksLikeSitemap, mayBeSitemap } from '../../src/sitemaps/index.ts';

const ORIGIN = 'https://example.org';

describe('the sitemaps of an origin', () => {
  test('are all that its robots.txt names, for any user agent, and /sitemap.xml, each once', () => {
    const robots = [
      'Sitemap: https://example.org/a.xml',
      'User-agent: other',
      'Disallow: /',
      '  SITEMAP :https://cdn.example.net/b.xml.gz # the rest',
      '# Sitemap: https://example.org/commented.xml',
      'Sitemap: /relative.xml',
      'Sitemap: https://example.org/a.xml',
      'Sitemap: ftp://example.org/no.xml',
      'Sitemap:',
    ];
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      expect(announcedSitemaps(robots.join(lineEnd), ORIGIN).urls).toEqual([
        'https://example.org/a.xml',
        'https://cdn.example.net/b.xml.gz',
        'https://example.org/relative.xml',
        'https://example.org/sitemap.xml',
      ]);
    }
  });

  test('are just /sitemap.xml if robots.txt names no other', () => {
    for (const robots of [null, '', 'User-agent: *\nDisallow:', 'Sitemap: /sitemap.xml']) {
      expect(announcedSitemaps(robots, ORIGIN).urls).toEqual(['https://example.org/sitemap.xml']);
    }
  });

  test('are limited in number', () => {
    const robots = Array.from({ length: 5_000 }, (_, n) => `Sitemap: /${n}.xml`).join('\n');
    expect(announcedSitemaps(robots, ORIGIN).urls).toHaveLength(1_000 + 1);
  });

  test('may lie on its own host and on the first ten others', () => {
    const robots = Array.from({ length: 50 }, (_, n) => [
      `Sitemap: https://victim-${n % 25}.example.net/${n}.xml`,
      `Sitemap: /${n}.xml`,
    ]);
    const { urls, skipped } = announcedSitemaps(robots.flat().join('\n'), ORIGIN);
    expect(skipped).toBe(2 * 15);
    const hosts = urls.map((url) => new URL(url).hostname);
    expect(new Set(hosts)).toEqual(
      new Set(['example.org', ...Array.from({ length: 10 }, (_, n) => `victim-${n}.example.net`)]),
    );
    expect(hosts).toHaveLength(2 * 10 + 50 + 1);
  });
});

test.each([
  [undefined, true],
  ['', true],
  ['application/xml', true],
  ['TEXT/XML; charset=utf-8', true],
  ['application/rss+xml', true],
  ['text/plain', true],
  ['text/html', true],
  ['application/x-gzip', true],
  ['application/octet-stream', true],
  ['image/png', false],
  ['application/pdf', false],
  ['application/zip', false],
])('a body of type %s may be a sitemap: %s', (type, expected) => {
  expect(mayBeSitemap(type)).toBe(expected);
});

test.each([
  ['https://example.org/sitemap_index.php', true],
  ['https://example.org/index.php?route=feed/google', true],
  ['https://example.org/a/b.xml.gz', true],
  ['https://example.org/list.txt', true],
  ['https://example.org/', false],
  ['https://example.org/welcome.html', false],
  ['https://sitemap.example.org/404', false],
])('%s looks like a sitemap: %s', (url, expected) => {
  expect(looksLikeSitemap(url)).toBe(expected);
});
