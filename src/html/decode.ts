/** Bytes to text in the order of the HTML standard: BOM, then the header's charset, then <meta>, then a guess. */
import { isUtf8 } from 'node:buffer';
import { getEncoding } from 'encoding-sniffer';
import { decoderFor, encodingOf } from './encodings.ts';

export { decoderFor } from './encodings.ts';

export interface DecodedHtml {
  text: string;
  /** Name in the Encoding standard. */
  encoding: string;
}

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
