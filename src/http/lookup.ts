/**
 * Names to addresses, without the threads of getaddrinfo: Node has four of them for lookups, files and compression
 * together, so four names whose servers are silent would stop the whole process. Here every question is a datagram of its
 * own. Asked are the hosts file and then the system's name servers; what else a system may consult (search domains, mDNS,
 * directories) is not.
 */
import { promises as dns, type LookupAddress } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export type Lookup = (hostname: string) => Promise<LookupAddress[]>;

export interface LookupOptions {
  /** Name servers as address:port; those of the system unless told otherwise. */
  servers?: readonly string[];
  hostsFile?: string;
}

/** For one question to one server; asked again with longer waits. */
const ANSWER_MS = 2_000;
const TRIES = 3;

/** Once there is an IPv4 address, how long IPv6 may still take (RFC 8305, 3): some servers never answer that question. */
const SECOND_FAMILY_MS = 50;

const HOSTS_FILE =
  process.platform === 'win32'
    ? join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts';

/** RFC 6761, 6.3: these names never leave the machine. */
const LOCALHOST = /(^|\.)localhost$/;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** IPv4 comes first: it reaches every site from every machine, and the connection falls back to the others. */
export function createLookup({ servers, hostsFile = HOSTS_FILE }: LookupOptions = {}): Lookup {
  const resolver = new dns.Resolver({ timeout: ANSWER_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const readHosts = createHostsReader(hostsFile);
  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const known = (await readHosts()).get(name);
    if (known !== undefined) return known;
    if (LOCALHOST.test(name)) return [...LOOPBACK];
    return ask(resolver, name);
  };
}

async function ask(resolver: dns.Resolver, name: string): Promise<LookupAddress[]> {
  const family6 = resolver.resolve6(name).catch(() => []);
  const family4 = await resolver.resolve4(name).catch((error: unknown) => ({ error }));
  if (!Array.isArray(family4)) {
    const addresses = await family6;
    // Both failed: the first question's error is the better known one.
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

/** Read again when it was changed, as a person who edits it expects. */
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
