/** Bytes to text as they stream. XML says its encoding in other ways than HTML, and is UTF-8 when it says nothing. */
import { TextDecoder } from 'node:util';
import { byteOrderMark, charsetOf, decoderFor } from '../html/decode.ts';
import { type Bytes, peek } from './bytes.ts';

/** An XML declaration is the first thing in its file, and short. */
const HEAD_BYTES = 256;

export async function* decoded(body: Bytes, contentType: string): AsyncGenerator<string> {
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

/** UTF-16 without a mark: every other byte of its first "<" is zero. */
function zeroBytes(head: Buffer): string | null {
  if (head[0] === 0x3c && head[1] === 0) return 'utf-16le';
  if (head[0] === 0 && head[1] === 0x3c) return 'utf-16be';
  return null;
}

function declared(head: Buffer): string | null {
  const label = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(head.toString('latin1'))?.[1];
  // These bytes could be read as ASCII, so whatever else they are, they are not that.
  return label === undefined || /^utf-?16/i.test(label) ? null : label;
}
