/** Addresses and ports that a crawler must not connect to. */

/**
 * A link to one of these addresses reaches into the machine or the network that the crawler runs in (server-side request forgery),
 * or leads nowhere. Data from the IANA special-purpose address registries. The first row that matches gives the reason.
 */
export interface ForbiddenRange {
  cidr: string;
  /** Completes "127.0.0.1 is ...". */
  what: string;
  source: string;
}

export const FORBIDDEN_RANGES: readonly ForbiddenRange[] = [
  { cidr: '0.0.0.0/8', what: 'an unspecified address', source: 'RFC 1122' },
  { cidr: '10.0.0.0/8', what: 'a private address', source: 'RFC 1918' },
  { cidr: '100.64.0.0/10', what: 'a carrier-internal address', source: 'RFC 6598' },
  { cidr: '127.0.0.0/8', what: 'a loopback address', source: 'RFC 1122' },
  { cidr: '168.63.129.16/32', what: 'a cloud metadata address', source: 'Microsoft Azure' },
  { cidr: '169.254.169.254/32', what: 'a cloud metadata address', source: 'RFC 3927' },
  { cidr: '169.254.0.0/16', what: 'a link-local address', source: 'RFC 3927' },
  { cidr: '172.16.0.0/12', what: 'a private address', source: 'RFC 1918' },
  { cidr: '192.0.0.0/24', what: 'a reserved address', source: 'RFC 6890' },
  { cidr: '192.0.2.0/24', what: 'a documentation address', source: 'RFC 5737' },
  { cidr: '192.88.99.0/24', what: 'a reserved address', source: 'RFC 7526' },
  { cidr: '192.168.0.0/16', what: 'a private address', source: 'RFC 1918' },
  { cidr: '198.18.0.0/15', what: 'a benchmarking address', source: 'RFC 2544' },
  { cidr: '198.51.100.0/24', what: 'a documentation address', source: 'RFC 5737' },
  { cidr: '203.0.113.0/24', what: 'a documentation address', source: 'RFC 5737' },
  { cidr: '224.0.0.0/4', what: 'a multicast address', source: 'RFC 5771' },
  { cidr: '255.255.255.255/32', what: 'the broadcast address', source: 'RFC 919' },
  { cidr: '240.0.0.0/4', what: 'a reserved address', source: 'RFC 1112' },

  { cidr: '::/128', what: 'an unspecified address', source: 'RFC 4291' },
  { cidr: '::1/128', what: 'a loopback address', source: 'RFC 4291' },
  { cidr: '::/96', what: 'a deprecated IPv4-compatible address', source: 'RFC 4291' },
  { cidr: '64:ff9b:1::/48', what: 'a local translation address', source: 'RFC 8215' },
  { cidr: '100::/64', what: 'a discard-only address', source: 'RFC 6666' },
  { cidr: '2001::/32', what: 'a Teredo tunnel address', source: 'RFC 4380' },
  { cidr: '2001::/23', what: 'a reserved address', source: 'RFC 2928' },
  { cidr: '2001:db8::/32', what: 'a documentation address', source: 'RFC 3849' },
  { cidr: '2002::/16', what: 'a 6to4 tunnel address', source: 'RFC 7526' },
  { cidr: '3fff::/20', what: 'a documentation address', source: 'RFC 9637' },
  { cidr: 'fd00:ec2::254/128', what: 'a cloud metadata address', source: 'RFC 4193' },
  { cidr: 'fc00::/7', what: 'a private address', source: 'RFC 4193' },
  { cidr: 'fe80::/10', what: 'a link-local address', source: 'RFC 4291' },
  { cidr: 'fec0::/10', what: 'a site-local address', source: 'RFC 3879' },
  { cidr: 'ff00::/8', what: 'a multicast address', source: 'RFC 4291' },
  // Only 2000::/3 is assigned as global unicast. The three rows below cover everything else.
  { cidr: '::/3', what: 'a reserved address', source: 'RFC 4291' },
  { cidr: '4000::/2', what: 'a reserved address', source: 'RFC 4291' },
  { cidr: '8000::/1', what: 'a reserved address', source: 'RFC 4291' },
];

/** IPv6 addresses that only wrap the IPv4 address in their last 32 bits, which is checked instead. */
export const IPV4_WRAPPINGS: readonly { cidr: string; source: string }[] = [
  { cidr: '::ffff:0:0/96', source: 'RFC 4291' },
  { cidr: '::ffff:0:0:0/96', source: 'RFC 7915' },
  { cidr: '64:ff9b::/96', source: 'RFC 6052' },
];

/**
 * Ports that browsers refuse (the "bad ports" of the Fetch standard, https://fetch.spec.whatwg.org/#port-blocking): they belong to
 * other protocols, and an HTTP request could be crafted so that, for example, a mail server understands it.
 */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** `port` as in a URL: empty for the scheme's default. */
export function isBlockedPort(port: string): boolean {
  return port !== '' && BLOCKED_PORTS.has(Number(port));
}
