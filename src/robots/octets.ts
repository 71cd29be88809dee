/**
 * Brings paths and patterns into one spelling before they are compared (RFC 9309, 2.2.2). Idempotent. A robots.txt may have 170,000
 * escapes, so this goes through them octet by octet: with `encodeURI` and regular expressions it took five times as long.
 */

const PERCENT = 0x25;

/**
 * Stays as it is where it is not escaped. Not `*` and `$`, because a rule can only name them by their escapes (2.2.3), nor `'`,
 * which URLs escape in their query.
 */
const KEPT = tableOf(/[A-Za-z0-9\-._~:/?#@!&()+,;=]/);

/** An unreserved character means the same with and without its escape. Every other escape is kept, in upper case. */
const UNRESERVED = tableOf(/[A-Za-z0-9\-._~]/);

const HEX = Buffer.from('0123456789ABCDEF');

/** The value of a hexadecimal digit. 16: it is none. */
const DIGITS = Uint8Array.from({ length: 256 }, (_, octet) => {
  const character = String.fromCharCode(octet);
  return /[\dA-Fa-f]/.test(character) ? Number.parseInt(character, 16) : 16;
});

/** Every octet is escaped, except RFC 3986's unreserved and most of its reserved characters. */
export function normaliseOctets(text: string): string {
  // Replaces halves of surrogate pairs, as a decoder of UTF-8 would have done.
  const octets = Buffer.from(text);
  const normalised = Buffer.allocUnsafe(3 * octets.length);
  let length = 0;
  for (let at = 0; at < octets.length; at += 1) {
    let octet = octets[at] ?? 0;
    let stays = KEPT[octet] === 1;
    if (octet === PERCENT) {
      const [high, low] = [DIGITS[octets[at + 1] ?? 0] ?? 16, DIGITS[octets[at + 2] ?? 0] ?? 16];
      if (high < 16 && low < 16) {
        octet = 16 * high + low;
        stays = UNRESERVED[octet] === 1;
        at += 2;
      }
    }
    if (stays) {
      normalised[length] = octet;
      length += 1;
    } else length = writeEscape(normalised, length, octet);
  }
  return normalised.toString('latin1', 0, length);
}

/** Octets beyond ASCII as escapes, the others as they are. */
export function escapeBeyondAscii(octets: Buffer): string {
  const escaped = Buffer.allocUnsafe(3 * octets.length);
  let length = 0;
  for (const octet of octets) {
    if (octet < 0x80) {
      escaped[length] = octet;
      length += 1;
    } else length = writeEscape(escaped, length, octet);
  }
  return escaped.toString('latin1', 0, length);
}

/** Returns where it ends. */
function writeEscape(to: Buffer, at: number, octet: number): number {
  to[at] = PERCENT;
  to[at + 1] = HEX[octet >> 4] ?? 0;
  to[at + 2] = HEX[octet & 15] ?? 0;
  return at + 3;
}

function tableOf(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, octet) =>
    octet < 0x80 && characters.test(String.fromCharCode(octet)) ? 1 : 0,
  );
}
