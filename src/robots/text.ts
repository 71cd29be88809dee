/** Decodes a robots.txt to text that Postgres can store, without losing an octet that a rule may name. */
import { isUtf8 } from 'node:buffer';
import { escapeOctet } from './octets.ts';

/** RFC 9309, 2.5: a crawler has to parse at least this much. Amble reads no more than that. */
export const MAX_ROBOTS_BYTES = 500 * 1024;

/** `cut`: the body is longer than these bytes. */
export function robotsText(body: Buffer, cut: boolean): string {
  const kept = body.subarray(0, MAX_ROBOTS_BYTES);
  // Without NULs, UTF-16 that lacks its BOM reads like ASCII. Postgres could not store them either.
  const text = decode(kept).replaceAll('\0', '');
  if (!cut && kept.length === body.length) return text;
  // Half a line would be another rule: "Disallow: /private" could become "Disallow: /".
  return text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
}

function decode(bytes: Buffer): string {
  // Some editors save "Unicode" as UTF-16. TextDecoder removes the BOM, which would make the first line unreadable.
  if (startsWith(bytes, 0xff, 0xfe)) return new TextDecoder('utf-16le').decode(bytes);
  if (startsWith(bytes, 0xfe, 0xff)) return new TextDecoder('utf-16be').decode(bytes);
  return isUtf8(bytes) ? new TextDecoder().decode(bytes) : escapeAll(withoutBom(bytes));
}

/** Rules match an octet and its escape alike. A decoder would replace the octets that it does not know. */
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
