/**
 * Which address the requests to an origin go to, known before anything is sent there, because limits are kept per address. A
 * request connects to no other one: if it cannot connect, the next request goes to another address of the name.
 */
import dns, { type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { codeOf } from '../core/errors.ts';
import { canonicalAddress } from './address.ts';
import type { Lookup } from './lookup.ts';
import type { NetworkPolicy } from './network-policy.ts';

/** A host that was evicted is resolved in the order of its name server, as a new one. */
const MAX_HOSTS = 10_000;

/** How long the connection may use what was looked up to announce its address: longer than it waits for its turn and connects. */
const MAX_ANNOUNCED_MS = 60_000;

/** Addresses of a host that are tried before the host counts as unreachable. A name server may have a new one for each lookup. */
const MAX_FAILED = 3;

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

/** The name may not be looked up now. */
export class LookupRefusedError extends Error {}

/** `ended` is called once the query has ended, which may be after the request. */
export type LookupVerdict = { go: true; ended: (tookMs: number) => void } | { go: false; reason: string };

export interface LookupRequest {
  /** Called before name servers are asked, if they have to be. It has to reject when `signal` aborts. Default: at once. */
  admitLookup?: () => Promise<LookupVerdict>;
  signal?: AbortSignal;
}

/** Permitted addresses, the one to connect to first. */
type Resolved = [LookupAddress, ...LookupAddress[]];

export class OriginAddresses {
  /** The last address of a host that a connection was made to, which may not be the first of its name. */
  readonly #lastConnected = new LRUCache<string, string>({ max: MAX_HOSTS });
  /** Those of a host that could not be connected to, since one could or all had failed. */
  readonly #failed = new LRUCache<string, ReadonlySet<string>>({ max: MAX_HOSTS });
  /** What the last call of `next` found, for the connection that follows. */
  readonly #announced = new LRUCache<string, Resolved>({ max: MAX_HOSTS, ttl: MAX_ANNOUNCED_MS });
  /** By origin. */
  readonly #connections = new Map<string, Map<Socket, string>>();

  constructor(
    private readonly policy: NetworkPolicy,
    private readonly lookup: Lookup,
    private readonly lookupTimeoutMs: number,
  ) {}

  /** Where the next request to the origin goes. Rejects with one of the errors above, or when the signal aborts. */
  async next(origin: string, request: LookupRequest = {}): Promise<string> {
    const open = this.connectedTo(origin);
    if (open !== null) return open;
    const hostname = hostnameOf(origin);
    // The connection checks an address in the URL, which needs no lookup.
    if (isIP(hostname) !== 0) return canonicalAddress(hostname);
    const addresses = await this.#resolve(hostname, () => this.#lookUpInTime(hostname, request));
    this.#announced.set(hostname, addresses);
    return canonicalAddress(addresses[0].address);
  }

  /** The address of the open connections. null: there is none, or their addresses differ. */
  connectedTo(origin: string): string | null {
    const addresses = new Set(this.#connections.get(origin)?.values());
    const [address] = addresses;
    return addresses.size === 1 && address !== undefined ? address : null;
  }

  /** Has to be called if no connection could be made. Returns whether the next request should try another address of the host. */
  connectionFailed(origin: string, address: string): boolean {
    const hostname = hostnameOf(origin);
    const failed = new Set([...(this.#failed.get(hostname) ?? []), address]);
    const others = (this.#announced.get(hostname) ?? []).filter(
      (other) => !failed.has(canonicalAddress(other.address)),
    );
    const isOther = others.length > 0 && failed.size < MAX_FAILED;
    if (isOther) this.#failed.set(hostname, failed);
    else this.#failed.delete(hostname);
    return isOther;
  }

  /** Has to be called for every new connection. */
  track(origin: string, hostname: string, socket: Socket): void {
    const address = canonicalAddress(socket.remoteAddress ?? '');
    this.#lastConnected.set(hostname, address);
    this.#failed.delete(hostname);
    const connections = this.#connections.get(origin) ?? new Map<Socket, string>();
    this.#connections.set(origin, connections.set(socket, address));
    socket.once('close', () => {
      connections.delete(socket);
      if (connections.size === 0 && this.#connections.get(origin) === connections)
        this.#connections.delete(origin);
    });
  }

  /** For node:net. It is one permitted address, so what was checked and announced is what is connected to. */
  readonly guardedLookup: LookupFunction = (hostname, options, callback) => {
    const announced = this.#announced.get(hostname);
    const resolved = announced === undefined ? this.#resolve(hostname) : Promise.resolve(announced);
    resolved.then(
      ([first]) => {
        if (options.all === true) callback(null, [first]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ''),
    );
  };

  async #resolve(hostname: string, lookUp = () => this.#lookUp(hostname)): Promise<Resolved> {
    const fixed = this.policy.fixedAddress(hostname);
    const addresses = fixed === undefined ? await lookUp() : [{ address: fixed, family: isIP(fixed) }];
    const [last, failed] = [this.#lastConnected.get(hostname), this.#failed.get(hostname)];
    const rank = ({ address }: LookupAddress): number => {
      const canonical = canonicalAddress(address);
      if (failed?.has(canonical)) return 2;
      return canonical === last ? 0 : 1;
    };
    const permitted = addresses
      .filter(({ address }) => this.policy.check(address).ok)
      // A stable sort: the others keep the order of the name server.
      .toSorted((one, other) => rank(one) - rank(other));
    const [first, ...others] = permitted;
    if (first === undefined) throw this.#whyNone(addresses);
    return [first, ...others];
  }

  async #lookUp(hostname: string): Promise<LookupAddress[]> {
    return this.lookup(hostname).catch((error: unknown) => {
      throw new LookupError(String(codeOf(error) ?? 'EUNKNOWN'), error);
    });
  }

  /** A query cannot be stopped: it counts until it has ended, although nobody waits for it any more. */
  async #lookUpInTime(hostname: string, { admitLookup, signal }: LookupRequest): Promise<LookupAddress[]> {
    const verdict = await admitLookup?.();
    if (verdict?.go === false) throw new LookupRefusedError(verdict.reason);
    const began = performance.now();
    const query = this.#lookUp(hostname);
    const ended = (): void => verdict?.ended(performance.now() - began);
    void query.then(ended, ended);
    const answered = new AbortController();
    const given = signal === undefined ? answered.signal : AbortSignal.any([answered.signal, signal]);
    try {
      return await Promise.race([query, delay(this.lookupTimeoutMs, null, { signal: given }).then(timedOut)]);
    } finally {
      answered.abort();
    }
  }

  #whyNone([first]: LookupAddress[]): Error {
    if (first === undefined) return new LookupError('ENODATA', null);
    const result = this.policy.check(first.address);
    return new ForbiddenAddressError(result.ok ? `${first.address} is refused` : result.reason);
  }
}

function timedOut(): never {
  throw new LookupError(dns.TIMEOUT, null);
}

function hostnameOf(origin: string): string {
  return new URL(origin).hostname.replace(/^\[(.*)\]$/, '$1');
}
