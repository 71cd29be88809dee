/** Hostile bytes and texts: pure noise, and valid pieces in the wrong order. */
import fc from 'fast-check';

/** A fixed seed makes failures reproducible. FUZZ_SEED=now tries other inputs. */
export const SEED = process.env.FUZZ_SEED === 'now' ? Date.now() : 20_261_116;

export const noise = fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes));

/** Mostly `pieces`, with an occasional burst of noise between them. */
export function soup(...pieces: string[]): fc.Arbitrary<Buffer> {
  const piece = fc.constantFrom(...pieces).map((text) => Buffer.from(text, 'latin1'));
  const burst = fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes));
  return fc
    .array(fc.oneof({ weight: 8, arbitrary: piece }, { weight: 1, arbitrary: burst }), { maxLength: 120 })
    .map((parts) => Buffer.concat(parts));
}

export const html = soup(
  ...'<!doctype html>|<html lang=|<head>|<title>|</title>|<base href="|<meta charset=|<meta http-equiv=refresh content="'.split(
    '|',
  ),
  ...'<a href="|">|</a>|<p>|<b>|<i>|<table>|<tr>|<td>|</table>|<form>|<select>|<option>|<svg>|<math>|<mi>|<annotation-xml'.split(
    '|',
  ),
  ...'<template>|</template>|<script>|</script>|<style>|<!--|-->|<![CDATA[|<frameset>|<frame src=|<plaintext>|<textarea>'.split(
    '|',
  ),
  ...'&amp;|&#x110000;|&notit;|&|<|>|=|"|utf-16|koi8-r|replacement|0;url=|http://[|javascript:|../..|#|?a=b&|text |\0|\r\n'.split(
    '|',
  ),
  ...'<main>|<article>|<h1>|<nav>|<font size=1>|</p>|</body>|</html>|<br>|<li>|<ruby>|<rt>|<object>|<applet>|<nobr>'.split(
    '|',
  ),
  // A few of these together exceed the limits of a tree.
  `<p>${Array.from({ length: 100 }, (_, n) => `<b id=${n}>`).join('')}`,
  '<p>x'.repeat(60),
  '<span>'.repeat(300),
  '</b>'.repeat(50),
  '<a href="?\xe9">',
  '<br/>',
  '<title/>',
  '\xef\xbb\xbf',
  '\xfe\xff',
  '\xff\xfe',
  '\x1b$B',
);

export const url = soup(
  ...'http://|https://|//|/|?|#|@|:|[::1]|[|]|0x7f.1|127.1|%2e%2e|..|.|%|%00|%zz|%41|&|=|;jsessionid=|utm_a=1|xn--|ü|:80|:99999'.split(
    '|',
  ),
  'example.org',
  ' ',
  '\t',
  '\\',
  'a'.repeat(300),
  '(S(lit3py55t21z5v55vlm25s55))/',
  '2031/05/',
  'month=5',
).map((bytes) => bytes.toString('latin1'));

export const robots = soup(
  ...'User-agent:|user-agent : *|Disallow: |Allow: |Crawl-delay: |Sitemap: |amble|*|$|/|%2F|%|#|:|1e999|-1|NaN'.split(
    '|',
  ),
  '\r\n',
  '\n',
  '\r',
  '\0',
  '\xef\xbb\xbf',
  '*'.repeat(200),
  'a'.repeat(500),
);

export const response = soup(
  ...'HTTP/1.1 200 OK|HTTP/1.1 301 Moved|HTTP/1.0 999|HTTP/9.9 200|HTTP/1.1 100 Continue|HTTP/1.1 204 x'.split(
    '|',
  ),
  ...'Content-Length: 5|Content-Length: 99999999999999999999|Content-Length: -1|Transfer-Encoding: chunked'.split(
    '|',
  ),
  ...'Content-Type: text/html|Content-Type: \xff|Content-Encoding: gzip|Content-Encoding: br|Content-Encoding: x,gzip'.split(
    '|',
  ),
  ...'Location: http://[|Location: /|Retry-After: -1|Set-Cookie: a=b|: empty|X: |Connection: close|5|ffffffffff|0'.split(
    '|',
  ),
  '\r\n',
  '\r\n',
  '\r\n\r\n',
  '\n',
  '\0',
  '\x1f\x8b\x08\x00',
  'h'.repeat(3_000),
);
