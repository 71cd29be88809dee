/** How long a robots.txt may be used before it has to be fetched again (RFC 9309, 2.4). */

/** The longest time also applies if the site states none. */
export interface FreshnessBounds {
  minMs: number;
  maxMs: number;
}

export function freshnessMs(cacheControl: string | undefined, { minMs, maxMs }: FreshnessBounds): number {
  const requested = requestedMs(cacheControl ?? '');
  return requested === null ? maxMs : Math.min(maxMs, Math.max(minMs, requested));
}

/** null: the site states none. */
function requestedMs(cacheControl: string): number | null {
  const directives = cacheControl
    .toLowerCase()
    .split(',')
    .map((directive) => directive.trim());
  if (directives.some((directive) => /^no-(store|cache)\b/.test(directive))) return 0;
  const seconds = directives
    .map((directive) => /^max-age\s*=\s*"?(\d+)"?$/.exec(directive)?.[1])
    .find((digits) => digits !== undefined);
  return seconds === undefined ? null : Number(seconds) * 1_000;
}
