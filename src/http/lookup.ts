/**
 * Resolves names without getaddrinfo, which blocks a thread: Node has four of them for lookups, files and compression together, so
 * four names with unresponsive servers would stop the whole process. Here every query is a datagram. Only the hosts file and the
 * system's name servers are used, not what else a system may consult (search domains, mDNS, directories).
 */
import { promises as dns, type LookupAddress } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export type Lookup = (hostname: string) => Promise<LookupAddress[]>;

export interface LookupOptions {
  /** Name servers as address:port. Default: those of the system. */
  servers?: readonly string[];
  hostsFile?: string;
}

/** For one query to one server. Each retry waits longer. */
const QUERY_TIMEOUT_MS = 2_000;
const MAX_TRIES = 3;

/** How long IPv6 may still take once there is an IPv4 address (RFC 8305, 3). Some servers never answer that query. */
const SECOND_FAMILY_MS = 50;

const HOSTS_FILE =
  process.platform === 'win32'
    ? join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts';

/** RFC 6761, 6.3: these names are never sent to a name server. */
const LOCALHOST = /(^|\.)localhost$/;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** IPv4 comes first, because it works for every site and on every machine. The others are tried if it cannot be connected to. */
export function createLookup({ servers, hostsFile = HOSTS_FILE }: LookupOptions = {}): Lookup {
  const resolver = new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: MAX_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const readHosts = createHostsReader(hostsFile);
  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const known = (await readHosts()).get(name);
    if (known !== undefined) return known;
    if (LOCALHOST.test(name)) return [...LOOPBACK];
    return query(resolver, name);
  };
}

async function query(resolver: dns.Resolver, name: string): Promise<LookupAddress[]> {
  const family6 = resolver.resolve6(name).catch(() => []);
  const family4 = await resolver.resolve4(name).catch((error: unknown) => ({ error }));
  if (!Array.isArray(family4)) {
    const addresses = await family6;
    // Both failed. The error of the IPv4 query is the more familiar one.
    if (addresses.length === 0) throw family4.error;
    return addresses.map((address) => ({ address, family: 6 }));
  }
  const late = delay(SECOND_FAMILY_MS, [], { ref: false });
  const others = await Promise.race([family6, late]);
  return [
    ...family4.map((address) => ({ address, family: 4 })),
    ...others.map((address) => ({ address, family: 6 })),
  ];
}

/** Reads the file again when it has changed, as a person who edits it expects. */
function createHostsReader(path: string): () => Promise<ReadonlyMap<string, LookupAddress[]>> {
  let read: { changedMs: number; hosts: Map<string, LookupAddress[]> } | null = null;
  return async () => {
    const changedMs = await stat(path).then(
      (stats) => stats.mtimeMs,
      () => null,
    );
    if (changedMs === null) return new Map();
    if (read?.changedMs !== changedMs) read = { changedMs, hosts: parseHosts(await readFile(path, 'utf8')) };
    return read.hosts;
  };
}

function parseHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      hosts.set(key, [...(hosts.get(key) ?? []), { address, family }]);
    }
  }
  return hosts;
}
