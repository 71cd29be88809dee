/** The origin, politeness key and site of a normalised URL. */
import ipaddr from 'ipaddr.js';
import { parse } from 'tldts';

export type PolitenessUnit = 'host' | 'site';

/** Scheme, host and port, which share one robots.txt. */
export function originOf(url: string): string {
  return new URL(url).origin;
}

/** In lower case, without the port and the trailing dot: `example.org.` is the same server as `example.org`. */
export function hostnameOf(url: string): string {
  const { hostname } = new URL(url);
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
}

/** Requests with the same key share one gap. */
export function politenessKey(url: string, unit: PolitenessUnit): string {
  const hostname = hostnameOf(url);
  return unit === 'host' ? hostname : siteOf(hostname);
}

/**
 * The registrable domain by the Public Suffix List, including its private section: two blogs on one blog host are two sites. An
 * address, or a name without a known suffix (localhost, *.test), is its own site.
 */
export function siteOf(hostname: string): string {
  const { domain, isIcann, isPrivate } = parse(hostname, { allowPrivateDomains: true });
  return domain !== null && (isIcann || isPrivate) ? domain : hostname;
}

/**
 * What counts as one site where sites must not take more than their share, of hosts, fetch slots, memory or turns. Names without a
 * known suffix share their last two labels, as the list itself says: the suffix may be newer than our copy of the list, and
 * wildcard DNS works under any. An IPv6 address counts by its /64, which is the least that one customer has.
 */
export function zoneOf(hostname: string): string {
  if (hostname.startsWith('['))
    return `${ipaddr.IPv6.networkAddressFromCIDR(`${hostname.slice(1, -1)}/64`)}/64`;
  return parse(hostname, { allowPrivateDomains: true }).domain ?? hostname;
}
