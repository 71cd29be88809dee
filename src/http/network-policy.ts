/** Which addresses may be connected to. It checks resolved addresses, never names, because a name can point anywhere. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Address, type Cidr, containsAddress, unwrapAddress } from './address.ts';
import { FORBIDDEN_RANGES, type ForbiddenRange } from './forbidden-targets.ts';

export type AddressCheck = { ok: true } | { ok: false; reason: string };

export interface NetworkPolicy {
  check(address: string): AddressCheck;
  /** The address that was configured for a host name, like curl's --resolve. It is checked like any other. */
  fixedAddress(hostname: string): string | undefined;
}

export interface NetworkPolicyOptions {
  /** CIDRs that may be connected to although they are in a forbidden range. */
  allowNetwork: readonly string[];
  /** Host name to address. */
  resolve: Readonly<Record<string, string>>;
}

/** Throws if a CIDR or an address is invalid. User input should be checked with parseCidr first. */
export function createNetworkPolicy({ allowNetwork, resolve }: NetworkPolicyOptions): NetworkPolicy {
  const allowed = allowNetwork.map(parseCidrOrThrow);
  const fixed = new Map<string, string>();
  for (const [name, address] of Object.entries(resolve)) {
    if (isIP(address) === 0)
      throw new Error(`Cannot resolve ${name} to "${address}": that is not an IP address.`);
    fixed.set(name.toLowerCase(), address);
  }
  return {
    fixedAddress: (hostname) => fixed.get(hostname.toLowerCase()),
    check(text) {
      if (isIP(text) === 0) return { ok: false, reason: `"${text}" is not an IP address` };
      const address = unwrapAddress(ipaddr.parse(text));
      const isAllowed = (target: Address) => allowed.some((cidr) => containsAddress(cidr, target));
      if (isAllowed(address)) return { ok: true };
      const tunnelled = isatapTarget(address);
      const range =
        rangeOf(address) ?? (tunnelled === null || isAllowed(tunnelled) ? undefined : rangeOf(tunnelled));
      if (range === undefined) return { ok: true };
      const reason = `${text} is ${range.what} (${range.source}); --allow-network permits it, if that is intended`;
      return { ok: false, reason };
    },
  };
}

/** A network such as 10.0.0.0/8, or one address. */
export function parseCidr(text: string): { ok: true; cidr: Cidr } | { ok: false; reason: string } {
  const [address = '', prefixText, ...rest] = text.trim().split('/');
  // node:net checks strictly. ipaddr.js would read "10/8" as 0.0.0.10.
  const family = isIP(address);
  if (family === 0 || rest.length > 0) {
    return { ok: false, reason: `"${text}" is not a network; write it like 10.0.0.0/8 or fd00::/8.` };
  }
  const bits = family === 4 ? 32 : 128;
  const prefix = prefixText === undefined ? bits : Number(prefixText);
  if (prefixText === '' || !Number.isInteger(prefix) || prefix < 0 || prefix > bits) {
    return { ok: false, reason: `"${text}" has no valid prefix length; it must be between 0 and ${bits}.` };
  }
  return { ok: true, cidr: { network: ipaddr.parse(address), prefix } };
}

/** For text that a schema has checked. */
export function parseCidrOrThrow(text: string): Cidr {
  const parsed = parseCidr(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.cidr;
}

const FORBIDDEN = FORBIDDEN_RANGES.map((range) => ({ ...range, cidr: parseCidrOrThrow(range.cidr) }));

function rangeOf(address: Address): Omit<ForbiddenRange, 'cidr'> | undefined {
  return FORBIDDEN.find(({ cidr }) => containsAddress(cidr, address));
}

/**
 * ISATAP (RFC 5214) sends to the IPv4 address in the last 32 bits. Unlike a wrapping, it has a network of its own in the first 64,
 * so both are checked. Only the 32 bits between them show it: 0000:5efe, or 0200:5efe for an address that is unique worldwide.
 */
function isatapTarget(address: Address): Address | null {
  if (address.kind() !== 'ipv6') return null;
  const bytes = address.toByteArray();
  const [first = 0, ...marker] = bytes.slice(8, 12);
  const isIsatap = (first & ~0x03) === 0 && marker.join() === '0,94,254';
  return isIsatap ? ipaddr.fromByteArray(bytes.slice(-4)) : null;
}
