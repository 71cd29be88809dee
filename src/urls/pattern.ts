/**
 * Patterns of URLs: plain text in which `*` stands for anything, nothing included. One that begins with `/` is compared
 * with path and query, any other with the whole URL; always from end to end, in the URL's own case. Not regular
 * expressions: a frontier of millions of hostile URLs must not meet one that explodes.
 */

/** `url` is a normalised URL. */
export function matchesPattern(pattern: string, url: string): boolean {
  return pattern.startsWith('/') ? matches(pattern, pathAndQuery(url)) : matches(pattern, url);
}

function pathAndQuery(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3));
}

/** The first place for each piece is the best one: it leaves the most to the pieces after it. So nothing is tried twice. */
function matches(pattern: string, text: string): boolean {
  const [head = '', ...pieces] = pattern.split('*');
  if (!text.startsWith(head)) return false;
  const tail = pieces.pop();
  if (tail === undefined) return text === head;
  let at = head.length;
  for (const piece of pieces) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - tail.length >= at && text.endsWith(tail);
}
