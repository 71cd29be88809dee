/**
 * Bounds on the hosts of a site and the ports of a host. Wildcard DNS makes up host names without end, and each of them would get
 * a throttle, a robots.txt and a quota of pages of its own.
 */
import type { TrapLimits } from '../core/settings.ts';
import { hostnameOf, zoneOf } from './hosts.ts';

export type BoundReason = 'too many hosts of the site' | 'too many ports of the host';

/** A host as one of its site, or a port as one of its host. */
export interface HostBound {
  /** `www.example.org`, or `www.example.org:8080`. */
  host: string;
  /** What it is counted in: `*.example.org`, or `www.example.org:*`. */
  group: string;
  limit: number;
  /** Why a host beyond the limit is skipped. */
  reason: BoundReason;
}

/** Host without its trailing dot, and port if it is not the default of http or https. URLs of one key have the same bounds. */
export function hostKey(url: string): string {
  return new URL(url).host.replace(/\.(?=:|$)/, '');
}

/** null: the hosts of a site are not limited. */
export function hostBound(url: string, { maxHostsPerSite: limit }: TrapLimits): HostBound | null {
  if (limit === null) return null;
  const host = hostnameOf(url);
  return { host, group: `*.${zoneOf(host)}`, limit, reason: 'too many hosts of the site' };
}

/** null: the URL has a default port, or the ports of a host are not limited. */
export function portBound(url: string, { maxPortsPerHost: limit }: TrapLimits): HostBound | null {
  if (limit === null || new URL(url).port === '') return null;
  return { host: hostKey(url), group: `${hostnameOf(url)}:*`, limit, reason: 'too many ports of the host' };
}
