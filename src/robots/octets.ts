/** Brings paths and patterns into one spelling before they are compared (RFC 9309, 2.2.2). Idempotent. */

/** `encodeURI` throws at half a surrogate pair. A decoder of UTF-8 would have replaced it too. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

/**
 * What `encodeURI` leaves to do: it escapes the `%` of an escape once more, and keeps some characters that have to be escaped.
 * These are `*` and `$`, because a rule can only name them that way (2.2.3), and `'`, which URLs escape in their query.
 */
const UNFINISHED = /%25([0-9A-Fa-f]{2})|[*$']/g;

const UNRESERVED = /^[A-Za-z0-9\-._~]$/;

/** An unreserved character means the same with and without its escape. Every other escape is kept, in upper case. */
const NORMALISED = Array.from({ length: 256 }, (_, octet) => {
  const character = String.fromCharCode(octet);
  return UNRESERVED.test(character) ? character : escapeOctet(octet);
});

/** Every octet is escaped, except RFC 3986's unreserved and most of its reserved characters. */
export function normaliseOctets(text: string): string {
  return encodeURI(text.replace(LONE_SURROGATE, '\ufffd')).replace(
    UNFINISHED,
    (character, hex?: string) =>
      NORMALISED[hex === undefined ? character.charCodeAt(0) : Number.parseInt(hex, 16)] ?? '',
  );
}

export function escapeOctet(octet: number): string {
  return `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
}
