/** Session ids in URLs. Every visit sees new URLs for all pages, so a crawl that keeps them never ends. */

/** Names that their platforms use for nothing else, in lower case. */
const SESSION_PARAMETERS: ReadonlySet<string> = new Set([
  'jsessionid',
  'phpsessid',
  'asp.net_sessionid',
  'cfid',
  'cftoken',
  'oscsid',
  'zenid',
  'xtcsid',
]);

/** Names with other uses too: `?sid=7` selects a page, `?sid=` with a long random value is a session. */
const AMBIGUOUS_PARAMETERS: ReadonlySet<string> = new Set(['sid', 'sessionid', 'session_id', 'sessid', 's']);

const RANDOM_VALUE = /^(?=.*\d)(?=.*[a-z])[\da-z]{24,128}$/i;

/** Servlet containers append it to the last segment: `/shop;jsessionid=1A2B`. */
const MATRIX_PARAMETER = /;(?:jsessionid|phpsessid)=[^/;]*/gi;

/** ASP.NET without cookies puts it before the path: `/(S(lit3py55t21z5v55vlm25s55))/page.aspx`. */
const COOKIELESS_SEGMENT = /\/\((?:[A-Z]\([\da-z]{16,256}\))+\)(?=\/)/gi;

/** `name` in lower case. */
export function isSessionParameter(name: string, value: string): boolean {
  return (
    SESSION_PARAMETERS.has(name) ||
    name.startsWith('aspsessionid') ||
    (AMBIGUOUS_PARAMETERS.has(name) && RANDOM_VALUE.test(value))
  );
}

export function withoutSession(path: string): string {
  return path.replace(MATRIX_PARAMETER, '').replace(COOKIELESS_SEGMENT, '');
}
