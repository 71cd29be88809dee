/**
 * URL patterns: text in which `*` matches anything, including nothing. A pattern that starts with `/` is compared with path and
 * query, any other with the whole URL. It has to match from start to end, case-sensitively. They are not regular expressions,
 * because millions of hostile URLs must not meet one that backtracks.
 */

/** `url` is a normalised URL. */
export function matchesPattern(pattern: string, url: string): boolean {
  return pattern.startsWith('/') ? matches(pattern, pathAndQuery(url)) : matches(pattern, url);
}

function pathAndQuery(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3));
}

/** The first occurrence of each piece is always good enough, because it leaves the most for the pieces after it. */
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
