/**
 * The connections: an undici Agent that asks the network policy about the very address it connects to. Check and use are
 * one step, so a name that answers differently the second time (DNS rebinding) gains nothing.
 */
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isBlockedPort } from './blocked-ports.ts';
import { createLookup, type Lookup } from './lookup.ts';
import type { NetworkPolicy } from './network-policy.ts';
import { PendingDispatches } from './pending-dispatches.ts';

/** Servers commonly hang up after 5 s; reusing a connection at that moment would cost a page its attempt. */
const IDLE_MS = 4_000;
/** Where a server names a longer idle time, it is believed up to this. */
const MAX_IDLE_MS = 30_000;

/** Node gives each address of a name 250 ms before it tries the next: too little for the other side of the world. */
const NEXT_ADDRESS_MS = 2_000;

/** All headers of a response together. Node allows 16 KiB; sites that set many cookies send more. */
const MAX_HEADER_BYTES = 64 * 1024;

export interface AgentOptions {
  policy: NetworkPolicy;
  /** For name lookup, connecting and the TLS handshake together. */
  connectTimeoutMs: number;
  /** Certificate authorities to trust instead of the usual ones, in PEM. */
  ca?: string;
  /** Where names are looked up; hosts file and name servers unless told otherwise. */
  lookup?: Lookup;
}

export class ForbiddenAddressError extends Error {
  constructor(readonly reason: string) {
    super(reason);
    this.name = 'ForbiddenAddressError';
  }
}

/** The name could not be turned into an address. */
export class LookupError extends Error {
  constructor(
    readonly code: string,
    cause: unknown,
  ) {
    super(`lookup failed: ${code}`, { cause });
    this.name = 'LookupError';
  }
}

/** One of which requests say that they wait for its connections. */
export type HttpAgent = Agent & { readonly pending: PendingDispatches };

/** Connections are reused within one agent only, so two policies never share one. */
export function createAgent({
  policy,
  connectTimeoutMs,
  ca,
  lookup = createLookup(),
}: AgentOptions): HttpAgent {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup: guardedLookup(policy, lookup),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    ...(ca === undefined ? {} : { ca }),
  });
  const pending = new PendingDispatches();
  const agent = new Agent({
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Node writes HTTP/2 frames in a later turn of the event loop than the one in which the gate is asked, or whenever
    // the server's stream limit allows: nobody could say when a request started, and the gap counts from there.
    allowH2: false,
    connect(options, callback) {
      const origin = `${options.protocol}//${options.host}`;
      const refusal = refusalOf(policy, options);
      if (!pending.has(origin)) callback(new Error('nobody waits for this connection'), null);
      else if (refusal !== null) callback(new ForbiddenAddressError(refusal), null);
      else
        connect(options, (...result) => {
          if (result[0] === null) pending.connected(origin);
          callback(...result);
        });
    },
  });
  return Object.assign(agent, { pending });
}

/** What can be judged before a name is looked up: the port, and a literal address, which node:net never looks up. */
function refusalOf(
  policy: NetworkPolicy,
  { hostname, port }: { hostname: string; port: string },
): string | null {
  if (isBlockedPort(port)) return `port ${port} belongs to another protocol (Fetch standard, bad ports)`;
  if (isIP(hostname) === 0) return null;
  const verdict = policy.check(hostname);
  return verdict.ok ? null : verdict.reason;
}

function guardedLookup(policy: NetworkPolicy, lookup: Lookup): LookupFunction {
  return (hostname, options, callback) => {
    const answer = (addresses: LookupAddress[]): void => {
      const permitted = addresses.filter(({ address }) => policy.check(address).ok);
      const [first] = permitted;
      if (first === undefined) callback(whyNone(policy, addresses), '');
      else if (options.all === true) callback(null, permitted);
      else callback(null, first.address, first.family);
    };
    const fixed = policy.fixedAddress(hostname);
    const addresses =
      fixed === undefined ? lookup(hostname) : Promise.resolve([{ address: fixed, family: isIP(fixed) }]);
    addresses.then(answer, (error: unknown) => callback(new LookupError(codeOf(error), error), ''));
  };
}

function whyNone(policy: NetworkPolicy, [first]: LookupAddress[]): Error {
  if (first === undefined) return new LookupError('ENODATA', null);
  const verdict = policy.check(first.address);
  return new ForbiddenAddressError(verdict.ok ? `${first.address} is refused` : verdict.reason);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'EUNKNOWN';
}
