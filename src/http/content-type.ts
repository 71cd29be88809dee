/**
 * The type of a body: its Content-Type if that is reliable, or else what its first bytes look like. This is the part of the MIME
 * Sniffing standard (https://mimesniff.spec.whatwg.org/) that matters to a crawler, with two departures: HTML sent as text/plain
 * or XML is treated as HTML, because no scripts run here; and a body sent as HTML that is clearly something else is not parsed.
 */
import type { ResponseHeaders } from './exchange.ts';

const HTML = 'text/html';
const XHTML = 'application/xhtml+xml';
const BINARY = 'application/octet-stream';

/** How much of a body the standard examines. */
export const HEAD_BYTES = 1_445;

/** Sent by servers that do not know the type, or only know that it is text. */
const VAGUE: ReadonlySet<string> = new Set([
  '',
  'application/octet-stream',
  'binary/octet-stream',
  'application/unknown',
  'unknown/unknown',
  '*/*',
  'text/plain',
  'text/xml',
  'application/xml',
]);

/** MIME Sniffing, 7.1: how an HTML document may start. */
const HTML_START =
  /^(<!doctype html|<(html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)(?=[\s>])|<!--)/i;

/** The standard's patterns, and a few more for files that people link to. The first match decides. */
const SIGNATURES: readonly { type: string; bytes: Buffer; at: number }[] = [
  signature('application/pdf', '%PDF-'),
  signature('application/postscript', '%!PS-Adobe-'),
  signature('image/png', '\x89PNG\r\n\x1a\n'),
  signature('image/jpeg', '\xff\xd8\xff'),
  signature('image/gif', 'GIF87a'),
  signature('image/gif', 'GIF89a'),
  signature('image/webp', 'WEBPVP', 8),
  signature('image/x-icon', '\0\0\x01\0'),
  signature('audio/wave', 'WAVEfmt ', 8),
  signature('video/avi', 'AVI LIST', 8),
  signature('audio/mpeg', 'ID3'),
  signature('application/ogg', 'OggS\0'),
  signature('video/mp4', 'ftyp', 4),
  signature('video/webm', '\x1a\x45\xdf\xa3'),
  signature('application/x-gzip', '\x1f\x8b\x08'),
  signature('application/zip', 'PK\x03\x04'),
  signature('application/x-rar-compressed', 'Rar!\x1a\x07'),
  signature('application/x-7z-compressed', '7z\xbc\xaf\x27\x1c'),
  signature('font/woff', 'wOFF'),
  signature('font/woff2', 'wOF2'),
];

/** Whether the type depends on the first bytes of the body. */
export function isSniffed(headers: ResponseHeaders): boolean {
  const type = declaredType(headers);
  return isHtmlType(type) || (VAGUE.has(type) && mayBeSniffed(type, headers));
}

/** The type without parameters, in lower case. `body` is decoded, and may be incomplete. */
export function contentTypeOf(headers: ResponseHeaders, body: Buffer): string {
  const type = declaredType(headers);
  if (!isSniffed(headers)) return type;
  const head = body.subarray(0, HEAD_BYTES);
  const known = SIGNATURES.find(({ bytes, at }) => head.subarray(at, at + bytes.length).equals(bytes))?.type;
  if (known !== undefined) return known;
  const text = readable(head);
  // A page in UTF-16 contains NULs, but tags as well.
  if (isHtmlType(type)) return isBinary(text) && !text.includes('<') ? BINARY : type;
  const start = text.trimStart();
  if (HTML_START.test(start)) return HTML;
  if (start.startsWith('<?xml')) return /<html[\s>]/i.test(start) ? XHTML : type || 'text/xml';
  return isBinary(text) ? BINARY : type || 'text/plain';
}

export function isHtmlType(type: string): boolean {
  return type === HTML || type === XHTML;
}

/** `patterns` like application/pdf, image/*, or *\/* for everything. */
export function matchesType(type: string, patterns: readonly string[]): boolean {
  return patterns.some(
    (pattern) =>
      pattern === type ||
      pattern === '*/*' ||
      (pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1))),
  );
}

/** The last valid one, as in the Fetch standard. Empty: none. */
function declaredType(headers: ResponseHeaders): string {
  const types = (headers['content-type'] ?? '')
    .split(',')
    .map((one) => (one.split(';', 1)[0] ?? '').trim().toLowerCase());
  return types.findLast((type) => /^[^\s/]{1,127}\/[^\s/]{1,127}$/.test(type)) ?? '';
}

/** With "nosniff" the server vouches for its Content-Type. */
function mayBeSniffed(type: string, headers: ResponseHeaders): boolean {
  return type === '' || headers['x-content-type-options']?.trim().toLowerCase() !== 'nosniff';
}

function signature(type: string, bytes: string, at = 0) {
  return { type, bytes: Buffer.from(bytes, 'latin1'), at };
}

/** MIME Sniffing, 3: has bytes that never occur in text with an ASCII-compatible encoding. `text` has one character per byte. */
function isBinary(text: string): boolean {
  return Array.from(text, (character) => character.charCodeAt(0)).some(
    (byte) =>
      byte < 0x09 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f),
  );
}

/** One character per byte, without a BOM, and without NULs after a BOM of UTF-16. That is enough to find tags. */
function readable(head: Buffer): string {
  const text = head.toString('latin1');
  if (text.startsWith('\xef\xbb\xbf')) return text.slice(3);
  if (text.startsWith('\xfe\xff') || text.startsWith('\xff\xfe')) return text.slice(2).replaceAll('\0', '');
  return text;
}
