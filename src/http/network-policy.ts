/** Which addresses may be connected to. It checks resolved addresses, never names, because a name can point anywhere. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { FORBIDDEN_RANGES, IPV4_WRAPPINGS } from './forbidden-targets.ts';

type Address = ReturnType<typeof ipaddr.parse>;

export interface Cidr {
  network: Address;
  prefix: number;
}

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
      const address = unwrap(ipaddr.parse(text));
      if (allowed.some((cidr) => contains(cidr, address))) return { ok: true };
      const range = FORBIDDEN.find(({ cidr }) => contains(cidr, address));
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

function parseCidrOrThrow(text: string): Cidr {
  const parsed = parseCidr(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.cidr;
}

function contains({ network, prefix }: Cidr, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, prefix);
}

const FORBIDDEN = FORBIDDEN_RANGES.map((range) => ({ ...range, cidr: parseCidrOrThrow(range.cidr) }));
const WRAPPINGS = IPV4_WRAPPINGS.map(({ cidr }) => parseCidrOrThrow(cidr));

function unwrap(address: Address): Address {
  if (!WRAPPINGS.some((cidr) => contains(cidr, address))) return address;
  return ipaddr.fromByteArray(address.toByteArray().slice(-4));
}
