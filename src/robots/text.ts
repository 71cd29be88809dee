/** The bytes of a robots.txt as text that a database can keep, without losing an octet that a rule may name. */
import { isUtf8 } from 'node:buffer';
import { escapeOctet } from './octets.ts';

/** RFC 9309, 2.5: at least this much is parsed; the request for it reads no more. */
export const MAX_ROBOTS_BYTES = 500 * 1024;

/** `cut`: the body went on where these bytes end. */
export function robotsText(body: Buffer, cut: boolean): string {
  const kept = body.subarray(0, MAX_ROBOTS_BYTES);
  // Of UTF-16 without its BOM the NULs are all that is in the way. They mean nothing here, and Postgres keeps none in a text.
  const text = decode(kept).replaceAll('\0', '');
  if (!cut && kept.length === body.length) return text;
  // A line cut in two would be another rule: "Disallow: /private" could become "Disallow: /".
  return text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
}

function decode(bytes: Buffer): string {
  // Some editors save "Unicode" as UTF-16. TextDecoder drops the BOM, which would hide the first line.
  if (startsWith(bytes, 0xff, 0xfe)) return new TextDecoder('utf-16le').decode(bytes);
  if (startsWith(bytes, 0xfe, 0xff)) return new TextDecoder('utf-16be').decode(bytes);
  return isUtf8(bytes) ? new TextDecoder().decode(bytes) : escapeAll(withoutBom(bytes));
}

/** To the matcher an octet and its escape are the same; a decoder would replace what it does not know. */
function escapeAll(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (character) => escapeOctet(character.charCodeAt(0)));
}

/** Half a BOM is skipped too, as the reference parser does. */
function withoutBom(bytes: Buffer): Buffer {
  const bom = [0xef, 0xbb, 0xbf];
  const present = bom.findIndex((octet, at) => bytes[at] !== octet);
  return bytes.subarray(present < 0 ? bom.length : present);
}

function startsWith(bytes: Buffer, ...start: number[]): boolean {
  return start.every((octet, at) => bytes[at] === octet);
}
