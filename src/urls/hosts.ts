/** Which server a URL belongs to: its origin, its politeness key, its site. All take normalised URLs. */
import { parse } from 'tldts';

export type PolitenessUnit = 'host' | 'site';

/** Scheme, host and port: what one robots.txt speaks for. */
export function originOf(url: string): string {
  return new URL(url).origin;
}

/** Lower-case, without port and without the root's dot: `example.org.` is the same server as `example.org`. */
export function hostnameOf(url: string): string {
  const { hostname } = new URL(url);
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
}

/** The name under which requests share one gap. */
export function politenessKey(url: string, unit: PolitenessUnit): string {
  const hostname = hostnameOf(url);
  return unit === 'host' ? hostname : siteOf(hostname);
}

/**
 * The registrable domain by the whole Public Suffix List, its private part included: two blogs on one blog host are two
 * sites. An address, or a name under no known suffix (localhost, *.test), is a site of its own.
 */
export function siteOf(hostname: string): string {
  const { domain, isIcann, isPrivate } = parse(hostname, { allowPrivateDomains: true });
  return domain !== null && (isIcann || isPrivate) ? domain : hostname;
}
