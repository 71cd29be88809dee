/** How long an answer to the request for robots.txt may be used before it is asked for again (RFC 9309, 2.4). */

/** The shortest and the longest time; the longest also where the site does not say. */
export interface FreshBounds {
  minMs: number;
  maxMs: number;
}

export function freshForMs(cacheControl: string | undefined, { minMs, maxMs }: FreshBounds): number {
  const asked = askedForMs(cacheControl ?? '');
  return asked === null ? maxMs : Math.min(maxMs, Math.max(minMs, asked));
}

/** null: the site does not say. */
function askedForMs(cacheControl: string): number | null {
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
