import { describe, expect, test } from 'vitest';
import { contentTypeOf, isSniffed, matchesType } from '../../src/http/index.ts';

const html = '<!DOCTYPE html><title>Hello</title>';
const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');

const typeFor = (contentType: string | null, body: string | Buffer, more: Record<string, string> = {}) =>
  contentTypeOf(
    { ...(contentType === null ? {} : { 'content-type': contentType }), ...more },
    Buffer.from(body),
  );

describe('a body sent as HTML', () => {
  test.each([
    ['text/html; charset=utf-8', html, 'text/html'],
    ['TEXT/HTML', 'just words', 'text/html'],
    ['text/html', '', 'text/html'],
    ['application/xhtml+xml', '<?xml version="1.0"?><html/>', 'application/xhtml+xml'],
    ['text/html', Buffer.from(html, 'utf16le'), 'text/html'],
    ['text/html, text/html', html, 'text/html'],
    ['text/html', png, 'image/png'],
    ['text/html', '%PDF-1.7\n', 'application/pdf'],
    ['text/html', Buffer.from([1, 2, 3, 4, 5, 6]), 'application/octet-stream'],
  ])('%s, %j is %s', (contentType, body, type) => {
    expect(typeFor(contentType, body)).toBe(type);
  });
});

describe('a body sent with a vague type', () => {
  test.each([
    [null, html, 'text/html'],
    ['nonsense', html, 'text/html'],
    ['application/octet-stream', ` \n\t<HTML >`, 'text/html'],
    ['text/plain', '<!-- a page --><p>', 'text/html'],
    ['text/plain', `\ufeff${html}`, 'text/html'],
    ['binary/octet-stream', Buffer.from(`\ufeff${html}`, 'utf16le'), 'text/html'],
    [
      'text/xml',
      '<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">',
      'application/xhtml+xml',
    ],
    ['application/xml', '<?xml version="1.0"?><rss/>', 'application/xml'],
    ['text/plain', '<pathology> is not a tag of the list', 'text/plain'],
    ['text/plain', 'a < b', 'text/plain'],
    ['text/plain', png, 'image/png'],
    [null, 'words', 'text/plain'],
    [null, '', 'text/plain'],
    ['application/octet-stream', 'words', 'application/octet-stream'],
    [null, Buffer.from([0, 1, 2, 3]), 'application/octet-stream'],
    [null, '\0\0\0\x18ftypmp42', 'video/mp4'],
  ])('%s, %j is %s', (contentType, body, type) => {
    expect(typeFor(contentType, body)).toBe(type);
  });

  test('keeps that type if the server forbids sniffing', () => {
    const nosniff = { 'x-content-type-options': 'nosniff' };
    expect(typeFor('text/plain', html, nosniff)).toBe('text/plain');
    expect(typeFor(null, html, nosniff)).toBe('text/html');
    expect(isSniffed({ 'content-type': 'text/plain', ...nosniff })).toBe(false);
  });
});

test.each(['application/pdf', 'image/svg+xml', 'text/css', 'application/json', 'application/rss+xml'])(
  '%s is believed without reading the body',
  (type) => {
    expect(isSniffed({ 'content-type': type })).toBe(false);
    expect(typeFor(`${type}; charset=utf-8`, html)).toBe(type);
  },
);

test('a pattern matches a type, a family, or everything', () => {
  expect(matchesType('application/pdf', ['image/*', 'application/pdf'])).toBe(true);
  expect(matchesType('image/png', ['image/*'])).toBe(true);
  expect(matchesType('imagery/png', ['image/*'])).toBe(false);
  expect(matchesType('text/css', ['*/*'])).toBe(true);
  expect(matchesType('text/css', [])).toBe(false);
});
