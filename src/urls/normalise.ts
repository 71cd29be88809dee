/** Untrusted text becomes a URL here, once: the same page always gets the same string. */

export type NormalisedUrl = { ok: true; url: string } | { ok: false; reason: string };

/** What common servers and sitemaps accept; beyond it lie mostly traps. */
export const MAX_URL_LENGTH = 2_000;

/** Fragments and dot segments may shrink a URL, so the raw text gets some room before the cost of parsing is refused. */
const MAX_RAW_LENGTH = 4 * MAX_URL_LENGTH;

const PERCENT_ESCAPE = /%[0-9a-f]{2}/gi;

/** Parses as browsers do (WHATWG), relative to `base` if given. Idempotent. */
export function normaliseUrl(raw: string, base?: string): NormalisedUrl {
  if (raw.length > MAX_RAW_LENGTH) return tooLong;
  const url = URL.canParse(raw, base) ? new URL(raw, base) : null;
  if (url === null) return { ok: false, reason: 'it is not a valid URL' };
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return {
      ok: false,
      reason: `its scheme is ${url.protocol.slice(0, -1)}, and only http and https are crawled`,
    };
  }
  url.hash = '';
  // Never sent and never logged: a login in a link is not ours to use.
  url.username = '';
  url.password = '';
  const normalised = url.href.replace(PERCENT_ESCAPE, (triplet) => triplet.toUpperCase());
  return normalised.length > MAX_URL_LENGTH ? tooLong : { ok: true, url: normalised };
}

const tooLong: NormalisedUrl = { ok: false, reason: `it is longer than ${MAX_URL_LENGTH} characters` };
