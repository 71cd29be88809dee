/**
 * URL patterns, and the types of page that they recognise. In a pattern, `*` matches anything, including nothing. A pattern that
 * starts with `/` is compared with path and query, any other with the whole URL. It has to match from start to end,
 * case-sensitively. They are not regular expressions, because millions of hostile URLs must not meet one that backtracks.
 */
import type { UrlType } from '../core/settings.ts';

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

/** Of a page without a type. */
const DEFAULT_PRIORITY = 5;

/** What is known about a page before it is fetched. */
export interface PageKind {
  type: string | null;
  priority: number;
  keyword: string | null;
}

/** `url` is a normalised URL. `carried` is the keyword of the page with the link. */
export function classifyUrl(types: readonly UrlType[], url: string, carried: string | null): PageKind {
  const type = types.find(({ pattern }) => matchesPattern(pattern, url));
  return {
    type: type?.name ?? null,
    priority: type?.priority ?? DEFAULT_PRIORITY,
    keyword: carried ?? type?.keyword ?? null,
  };
}
