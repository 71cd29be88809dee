import iconv from 'iconv-lite';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { decodeHtml, decoderFor, encodeQuery } from '../../src/html/encodings.ts';
import { parsePage } from '../../src/html/index.ts';
import { NO_RULES } from '../../src/urls/index.ts';

const decode = (label: string, ...bytes: number[]) =>
  decodeHtml(Buffer.from(bytes), `text/html; charset=${label}`).text;

describe('an encoding', () => {
  // Facts from the indexes of the Encoding standard (https://encoding.spec.whatwg.org/).
  test.each([
    ['windows-1252', [0x93, 0x68, 0x94, 0x80, 0x99, 0xe9], '“h”€™é'],
    ['iso-8859-1', [0x85, 0x96, 0xfc], '…–ü'],
    ['us-ascii', [0x92], '’'],
    ['windows-1250', [0x8a, 0xf8], 'Šř'],
    ['windows-1251', [0x80, 0xcf, 0xf0, 0xe8], 'ЂПри'],
    ['windows-1253', [0xc1, 0xfe], 'Αώ'],
    ['windows-1254', [0x80, 0xde], '€Ş'],
    ['iso-8859-2', [0xa3, 0xb3], 'Łł'],
    ['iso-8859-15', [0xa4], '€'],
    ['iso-8859-16', [0xa4, 0xaa, 0xde], '€ȘŢ'.replace('Ţ', 'Ț')],
    ['koi8-r', [0xf0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4], 'Привет'],
    ['koi8-u', [0xa4, 0xa7], 'єї'],
    ['macintosh', [0x80, 0xdb], 'Ä€'],
    ['shift_jis', [0x93, 0xfa, 0x96, 0x7b, 0xb1], '日本ｱ'],
    ['euc-jp', [0xc6, 0xfc, 0xcb, 0xdc], '日本'],
    ['gbk', [0xc4, 0xe3, 0xba, 0xc3, 0x80, 0xa8, 0xbf], '你好€ǹ'],
    ['gb18030', [0xc4, 0xe3, 0x81, 0x30, 0x81, 0x30], '你\u0080'],
    ['euc-kr', [0xc7, 0xd1, 0x94, 0xee], '한뷁'],
    ['big5', [0xa4, 0xa4, 0x87, 0x40], '中䏰'],
    ['utf-16le', [0x41, 0x00, 0xac, 0x20], 'A€'],
    ['utf-16be', [0x00, 0x41, 0x20, 0xac], 'A€'],
    ['x-user-defined', [0x41, 0x80, 0xff], 'A\uf780\uf7ff'],
  ])('%s is decoded as the standard defines', (label, bytes, expected) => {
    expect(decode(label, ...bytes)).toBe(expected);
  });

  test('is decoded in chunks that end within a character', () => {
    const decoder = decoderFor('big5');
    const pieces = [[0xa4], [0xa4, 0x87], [0x40]].map((bytes) =>
      decoder?.decode(Buffer.from(bytes), { stream: true }),
    );
    expect(pieces.join('') + decoder?.decode()).toBe('中䏰');
  });
});

describe('the query of a link', () => {
  const link = (href: Buffer, charset: string) =>
    parsePage({
      body: Buffer.concat([Buffer.from('<a href="'), href, Buffer.from('">x</a>')]),
      url: 'http://example.org/',
      contentType: `text/html; charset=${charset}`,
      token: 'Amble',
      maxLinks: 10,
      rules: NO_RULES,
    }).links[0]?.url;

  test.each([
    ['windows-1252', Buffer.from('/caf\xe9?q=caf\xe9#\xe9', 'latin1'), '/caf%C3%A9?q=caf%E9'],
    ['windows-1252', Buffer.from('?q=&#8364;&#x416;', 'latin1'), '/?q=%80%26%231046%3B'],
    ['windows-1251', Buffer.from([0x3f, 0xc6]), '/?%C6'],
    ['shift_jis', Buffer.from([0x3f, 0x83, 0x5c]), '/?%83%5C'],
    ['euc-kr', Buffer.from([0x3f, 0xc7, 0xd1]), '/?%C7%D1'],
    ['gbk', Buffer.from([0x3f, 0xc4, 0xe3]), '/?%C4%E3'],
    ['utf-8', Buffer.from('?q=café'), '/?q=caf%C3%A9'],
    ['iso-2022-jp', Buffer.from('?q=%E9'), '/?q=%E9'],
  ])('is written in the encoding of the page: %s, case %#', (charset, href, expected) => {
    expect(link(href, charset)).toBe(`http://example.org${expected}`);
  });
});

describe('a long query', () => {
  test.each([
    ['shift_jis', '\u3042\u00e9\u{20000}\ud800', '%82%A0%26%23233%3B%26%23131072%3B%26%2355296%3B'],
    ['windows-1252', '\u00e9\u{1f600}a\u3042', '%E9%26%23128512%3Ba%26%2312354%3B'],
    ['big5', '\u4f60\u00ca\u0304', undefined],
    ['gb18030', '\u4f60\u{1f600}', '%C4%E3%94%39%FC%36'],
  ])('is encoded as each of its characters, in one call: %s', (encoding, characters, expected) => {
    const each = [...characters].map((character) => encodeQuery(character, encoding)).join('');
    const encode = vi.spyOn(iconv, 'encode');
    onTestFinished(() => encode.mockRestore());
    expect(encodeQuery(characters.repeat(1_000), encoding)).toBe(each.repeat(1_000));
    expect(encode).toHaveBeenCalledTimes(1);
    if (expected !== undefined) expect(each).toBe(expected);
  });

  test('is not encoded if its URL is too long anyway', () => {
    const encode = vi.spyOn(iconv, 'encode');
    onTestFinished(() => encode.mockRestore());
    const body = Buffer.from(`<a href="?${'\xe9'.repeat(8_001)}">x</a>`, 'latin1');
    const contentType = 'text/html; charset=windows-1252';
    const rest = { url: 'http://example.org/', token: 'Amble', maxLinks: 100, rules: NO_RULES };
    expect(parsePage({ body, contentType, ...rest })).toMatchObject({ linksTooLong: 1 });
    expect(encode).not.toHaveBeenCalled();
  });
});
