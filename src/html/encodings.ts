/**
 * Bytes to text, with the encodings of the Encoding standard. Node's own decoders (ICU) are used where they are correct. Compared byte by byte
 * with iconv-lite, those of Node 20 read windows-1252 as ISO-8859-1 (nodejs/node, issue 56542), support only half of euc-kr
 * and big5 and an outdated gbk, and lack iso-8859-16 and x-user-defined.
 */
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { getEncoding } from 'encoding-sniffer';
import iconv from 'iconv-lite';

interface Decoder {
  decode(bytes?: Uint8Array, options?: { stream?: boolean }): string;
}

const DECODED_BY_ICONV: ReadonlySet<string> = new Set(['windows-1252', 'euc-kr', 'big5', 'iso-8859-16']);

const USER_DEFINED = 'x-user-defined';

/** The standard's name for a label, or null if it is unknown or has no decoder (`replacement`). */
function encodingOf(label: string | null): string | null {
  const plain = label?.trim().toLowerCase();
  if (plain === undefined) return null;
  if (plain === USER_DEFINED || plain === 'iso-8859-16') return plain;
  try {
    return new TextDecoder(plain).encoding;
  } catch {
    return null;
  }
}

/** A decoder for one text: it keeps the incomplete character at the end of a chunk. */
export function decoderFor(label: string | null): Decoder | null {
  const encoding = encodingOf(label);
  if (encoding === null) return null;
  if (encoding === USER_DEFINED) return { decode: decodeUserDefined };
  if (DECODED_BY_ICONV.has(encoding)) return iconvDecoder(encoding);
  // The standard decodes gbk as gb18030, which includes it.
  return new TextDecoder(encoding === 'gbk' ? 'gb18030' : encoding);
}

interface DecodedHtml {
  text: string;
  /** Name in the Encoding standard. */
  encoding: string;
}

/** In the order of the HTML standard: BOM, then the header's charset, then <meta>, then a guess. */
export function decodeHtml(body: Buffer, contentType: string | undefined): DecodedHtml {
  const encoding =
    encodingOf(byteOrderMark(body)) ??
    encodingOf(charsetOf(contentType)) ??
    encodingOf(sniff(body)) ??
    'utf-8';
  return { text: decoderFor(encoding)?.decode(body) ?? '', encoding };
}

export function byteOrderMark(body: Buffer): string | null {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  return null;
}

export function charsetOf(contentType: string | undefined): string | null {
  return /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType ?? '')?.[1] ?? null;
}

function sniff(body: Buffer): string {
  // Undeclared text that is valid UTF-8 is UTF-8. Browsers read everything else as windows-1252.
  return getEncoding(body, { defaultEncoding: isUtf8(body) ? 'utf-8' : 'windows-1252' });
}

/**
 * Escapes the query of a link as the URL standard does: in the encoding of the page instead of UTF-8, with character
 * references for what it cannot express. ASCII stays as it is.
 */
export function encodeQuery(query: string, encoding: string): string {
  const characters = query.match(/[^\0-\x7f]/gu);
  if (characters === null || !encodesQueries(encoding)) return query;
  const escapes = escapeAll(characters, encoding);
  let next = 0;
  return query.replace(/[^\0-\x7f]/gu, () => escapes[next++] ?? '');
}

/**
 * Encodes all of them at once, because each call of an encoder costs more than the characters. The line breaks between
 * them show which bytes belong to which: in none of these encodings is 0x0A part of another character.
 */
function escapeAll(characters: readonly string[], encoding: string): string[] {
  const bytes = iconv.encode(characters.join('\n'), encoding);
  const decoded = iconv.decode(bytes, encoding).split('\n');
  let start = 0;
  return characters.map((character, index) => {
    const found = bytes.indexOf(0x0a, start);
    const end = found === -1 ? bytes.length : found;
    const own = bytes.subarray(start, end);
    start = end + 1;
    if (decoded[index] !== character) return `%26%23${character.codePointAt(0)}%3B`;
    return Array.from(own, (byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('');
  });
}

/** Pages in Unicode encodings send UTF-8. iconv-lite cannot encode iso-2022-jp and a few others. */
function encodesQueries(encoding: string): boolean {
  return !encoding.startsWith('utf-') && iconv.encodingExists(encoding);
}

function iconvDecoder(encoding: string): Decoder {
  const decoder = iconv.getDecoder(encoding);
  return {
    decode(bytes, { stream = false } = {}) {
      const text =
        bytes === undefined
          ? ''
          : decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      return stream ? text : text + (decoder.end() ?? '');
    },
  };
}

/** Maps bytes above ASCII to private-use characters. */
function decodeUserDefined(bytes: Uint8Array = new Uint8Array()): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(0xf700 + byte.charCodeAt(0)));
}
