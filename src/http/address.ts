/** IP addresses as networks count them. Addresses come from sockets and lookups, so they are valid. */
import ipaddr from 'ipaddr.js';
import { IPV4_WRAPPINGS } from './forbidden-targets.ts';

export type Address = ReturnType<typeof ipaddr.parse>;

export interface Cidr {
  network: Address;
  prefix: number;
}

/** For all requests to one address, whatever host names point there. */
export interface AddressLimits {
  /** Between the beginnings of two requests. */
  gapMs: number;
  maxOpen: number;
  /** Networks without these limits. */
  exempt: string[];
}

/** One customer usually has at least a /64 (RFC 6177), and any number of addresses in it. */
const IPV6_PREFIX = 64;

const WRAPPINGS: readonly Cidr[] = IPV4_WRAPPINGS.map(({ cidr }) => {
  const [network, prefix] = ipaddr.parseCIDR(cidr);
  return { network, prefix };
});

export function containsAddress({ network, prefix }: Cidr, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, prefix);
}

/** The IPv4 address, if it is only written as IPv6. */
export function unwrapAddress(address: Address): Address {
  if (!WRAPPINGS.some((cidr) => containsAddress(cidr, address))) return address;
  return ipaddr.fromByteArray(address.toByteArray().slice(-4));
}

/** One way to write each address. */
export function canonicalAddress(text: string): string {
  return unwrapAddress(ipaddr.parse(text)).toString();
}

/** What the limits per address are kept by: an IPv4 address, or the IPv6 network of one customer such as `2001:db8::/64`. */
export function addressBlockOf(text: string): string {
  const address = unwrapAddress(ipaddr.parse(text));
  if (address.kind() === 'ipv4') return address.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/${IPV6_PREFIX}`)}/${IPV6_PREFIX}`;
}
