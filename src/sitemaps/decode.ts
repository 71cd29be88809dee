/** Decodes XML as it streams. It declares its encoding differently from HTML, and is UTF-8 by default. */
import { TextDecoder } from 'node:util';
import { byteOrderMark, charsetOf, decoderFor } from '../html/decode.ts';
import { type Bytes, peek } from './bytes.ts';

/** An XML declaration is short and comes first in its file. */
const HEAD_BYTES = 256;

export async function* decodeXml(body: Bytes, contentType: string): AsyncGenerator<string> {
  const { head, whole } = await peek(body, HEAD_BYTES);
  const decoder =
    decoderFor(byteOrderMark(head)) ??
    decoderFor(zeroBytes(head)) ??
    decoderFor(charsetOf(contentType)) ??
    decoderFor(declared(head)) ??
    new TextDecoder();
  for await (const chunk of whole) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

/** UTF-16 without a byte order mark: one byte of the first "<" is zero. */
function zeroBytes(head: Buffer): string | null {
  if (head[0] === 0x3c && head[1] === 0) return 'utf-16le';
  if (head[0] === 0 && head[1] === 0x3c) return 'utf-16be';
  return null;
}

function declared(head: Buffer): string | null {
  const label = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(head.toString('latin1'))?.[1];
  // The declaration was readable as ASCII, so it cannot be UTF-16.
  return label === undefined || /^utf-?16/i.test(label) ? null : label;
}
