/** Brings paths and patterns into one spelling before they are compared (RFC 9309, 2.2.2). Idempotent. */

/**
 * An escape, or a character that needs one: all but RFC 3986's unreserved and reserved characters. `*` and `$` are
 * escaped too, because a rule can only name them that way (2.2.3), and `'`, which URLs have escaped in their query.
 */
const UNUSUAL = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!&()+,;=]/gu;

const ESCAPE_LENGTH = '%00'.length;

const UNRESERVED = /^[A-Za-z0-9\-._~]$/;

export function normaliseOctets(text: string): string {
  return text.replace(UNUSUAL, (found) =>
    found.length === ESCAPE_LENGTH ? respell(found) : escapeOf(found),
  );
}

export function escapeOctet(octet: number): string {
  return `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
}

/** An unreserved character means the same with and without its escape; of others the escape is upper-cased. */
function respell(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
  return UNRESERVED.test(character) ? character : triplet.toUpperCase();
}

function escapeOf(character: string): string {
  return Array.from(new TextEncoder().encode(character), escapeOctet).join('');
}
