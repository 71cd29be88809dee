/**
 * Which address the requests to an origin go to, known before a request is sent, because limits are kept per address. All
 * connections of an origin go to one address at a time: the one that answered last is tried first.
 */
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { codeOf } from '../core/errors.ts';
import { canonicalAddress } from './address.ts';
import type { Lookup } from './lookup.ts';
import type { NetworkPolicy } from './network-policy.ts';

/** A host that was evicted is resolved in the order of its name server, as a new one. */
const MAX_HOSTS = 10_000;

/** How long the connection may use what was looked up to announce its address: as long as a request waits for its turn. */
const MAX_ANNOUNCED_MS = 30_000;

export class ForbiddenAddressError extends Error {
  constructor(readonly reason: string) {
    super(reason);
    this.name = 'ForbiddenAddressError';
  }
}

/** The name could not be resolved. */
export class LookupError extends Error {
  constructor(
    readonly code: string,
    cause: unknown,
  ) {
    super(`lookup failed: ${code}`, { cause });
    this.name = 'LookupError';
  }
}

export class OriginAddresses {
  /** The last address of a host that a connection was made to, which may not be the first of its name. */
  readonly #lastConnected = new LRUCache<string, string>({ max: MAX_HOSTS });
  /** What the last call of `next` found, for the connection that follows. */
  readonly #announced = new LRUCache<string, LookupAddress[]>({ max: MAX_HOSTS, ttl: MAX_ANNOUNCED_MS });
  /** By origin. */
  readonly #connections = new Map<string, Map<Socket, string>>();

  constructor(
    private readonly policy: NetworkPolicy,
    private readonly lookup: Lookup,
  ) {}

  /** Where the next request to the origin goes. Rejects with a LookupError or a ForbiddenAddressError. */
  async next(origin: string): Promise<string> {
    const open = this.connectedTo(origin);
    if (open !== null) return open;
    const hostname = new URL(origin).hostname.replace(/^\[(.*)\]$/, '$1');
    // The connection checks an address in the URL, which needs no lookup.
    if (isIP(hostname) !== 0) return canonicalAddress(hostname);
    const addresses = await this.#resolve(hostname);
    this.#announced.set(hostname, addresses);
    return canonicalAddress(addresses[0].address);
  }

  /** The address of the open connections. null: there is none, or their addresses differ. */
  connectedTo(origin: string): string | null {
    const addresses = new Set(this.#connections.get(origin)?.values());
    const [address] = addresses;
    return addresses.size === 1 && address !== undefined ? address : null;
  }

  /** Has to be called for every new connection. */
  track(origin: string, hostname: string, socket: Socket): void {
    const address = canonicalAddress(socket.remoteAddress ?? '');
    this.#lastConnected.set(hostname, address);
    const connections = this.#connections.get(origin) ?? new Map<Socket, string>();
    this.#connections.set(origin, connections.set(socket, address));
    socket.once('close', () => {
      connections.delete(socket);
      if (connections.size === 0 && this.#connections.get(origin) === connections)
        this.#connections.delete(origin);
    });
  }

  /** For node:net. Only permitted addresses are returned, so what was checked is what is connected to. */
  readonly guardedLookup: LookupFunction = (hostname, options, callback) => {
    const announced = this.#announced.get(hostname);
    this.#announced.delete(hostname);
    const resolved = announced === undefined ? this.#resolve(hostname) : Promise.resolve(announced);
    resolved.then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) callback(new LookupError('ENODATA', null), '');
        else if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ''),
    );
  };

  async #resolve(hostname: string): Promise<[LookupAddress, ...LookupAddress[]]> {
    const addresses = await this.#lookUp(hostname);
    const last = this.#lastConnected.get(hostname);
    const permitted = addresses
      .filter(({ address }) => this.policy.check(address).ok)
      // A stable sort: the others keep the order of the name server.
      .toSorted((one, other) => Number(other.address === last) - Number(one.address === last));
    const [first, ...others] = permitted;
    if (first === undefined) throw this.#whyNone(addresses);
    return [first, ...others];
  }

  async #lookUp(hostname: string): Promise<LookupAddress[]> {
    const fixed = this.policy.fixedAddress(hostname);
    if (fixed !== undefined) return [{ address: fixed, family: isIP(fixed) }];
    return this.lookup(hostname).catch((error: unknown) => {
      throw new LookupError(String(codeOf(error) ?? 'EUNKNOWN'), error);
    });
  }

  #whyNone([first]: LookupAddress[]): Error {
    if (first === undefined) return new LookupError('ENODATA', null);
    const result = this.policy.check(first.address);
    return new ForbiddenAddressError(result.ok ? `${first.address} is refused` : result.reason);
  }
}
