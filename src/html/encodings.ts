/**
 * The encodings of the Encoding standard. Node's own decoders (ICU's) are asked where they are right: compared byte by byte with
 * iconv-lite, Node 20's take windows-1252 for ISO-8859-1 (nodejs/node, issue 56542), know half of euc-kr and big5, an old gbk, and no
 * iso-8859-16 or x-user-defined.
 */
import { TextDecoder } from 'node:util';
import iconv from 'iconv-lite';

export interface Decoder {
  decode(bytes?: Uint8Array, options?: { stream?: boolean }): string;
}

/** Read by iconv-lite. */
const NOT_BY_NODE: ReadonlySet<string> = new Set(['windows-1252', 'euc-kr', 'big5', 'iso-8859-16']);

const USER_DEFINED = 'x-user-defined';

/** The standard's name of an encoding; null: no label of it, or one without a decoder (`replacement`). */
export function encodingOf(label: string | null): string | null {
  const plain = label?.trim().toLowerCase();
  if (plain === undefined) return null;
  if (plain === USER_DEFINED || plain === 'iso-8859-16') return plain;
  try {
    return new TextDecoder(plain).encoding;
  } catch {
    return null;
  }
}

/** Of one text: it remembers the half of a character that a piece of it ends with. */
export function decoderFor(label: string | null): Decoder | null {
  const encoding = encodingOf(label);
  if (encoding === null) return null;
  if (encoding === USER_DEFINED) return { decode: userDefined };
  if (NOT_BY_NODE.has(encoding)) return byIconv(encoding);
  // The standard reads gbk with the decoder of gb18030, which holds all of it.
  return new TextDecoder(encoding === 'gbk' ? 'gb18030' : encoding);
}

/**
 * The query of a link as the URL standard has it: in the encoding of the page, not in UTF-8, and what that cannot express as
 * a character reference. Escaped; all that is ASCII already stays as it is.
 */
export function encodeQuery(query: string, encoding: string): string {
  if (!hasOwnQueries(encoding)) return query;
  return query.replace(/[^\0-\x7f]/gu, (character) => {
    const bytes = iconv.encode(character, encoding);
    if (iconv.decode(bytes, encoding) !== character) return `%26%23${character.codePointAt(0)}%3B`;
    return [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('');
  });
}

/** Unicode's are sent as UTF-8. iso-2022-jp and a few more iconv-lite cannot write. */
function hasOwnQueries(encoding: string): boolean {
  return !encoding.startsWith('utf-') && iconv.encodingExists(encoding);
}

function byIconv(encoding: string): Decoder {
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

/** Bytes that are no ASCII stand for nothing but themselves. */
function userDefined(bytes: Uint8Array = new Uint8Array()): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(0xf700 + byte.charCodeAt(0)));
}
