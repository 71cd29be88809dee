/**
 * The connections: an undici Agent that asks the network policy about the very address it connects to. Check and use are
 * one step, so a name that answers differently the second time (DNS rebinding) gains nothing.
 */
import dns from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { NetworkPolicy } from './network-policy.ts';

/** Servers commonly hang up after 5 s; reusing a connection at that moment would cost a page its attempt. */
const IDLE_MS = 4_000;
/** Where a server names a longer idle time, it is believed up to this. */
const MAX_IDLE_MS = 30_000;

export interface AgentOptions {
  policy: NetworkPolicy;
  /** For name lookup, connecting and the TLS handshake together. */
  connectTimeoutMs: number;
  /** Certificate authorities to trust instead of the usual ones, in PEM. */
  ca?: string;
  /** Where names are looked up; the system's way unless told otherwise. */
  lookup?: LookupAll;
}

export type LookupAll = (
  hostname: string,
  options: dns.LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void,
) => void;

export class ForbiddenAddressError extends Error {
  constructor(readonly reason: string) {
    super(reason);
    this.name = 'ForbiddenAddressError';
  }
}

/** Connections are reused within one agent only, so two policies never share one. */
export function makeAgent({ policy, connectTimeoutMs, ca, lookup = dns.lookup }: AgentOptions): Agent {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup: guardedLookup(policy, lookup),
    ...(ca === undefined ? {} : { ca }),
  });
  return new Agent({
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    allowH2: false,
    connect(options, callback) {
      // node:net never looks up a literal address, so it is judged here.
      if (isIP(options.hostname) !== 0) {
        const verdict = policy.judge(options.hostname);
        if (!verdict.ok) {
          callback(new ForbiddenAddressError(verdict.reason), null);
          return;
        }
      }
      connect(options, callback);
    },
  });
}

function guardedLookup(policy: NetworkPolicy, lookup: LookupAll): LookupFunction {
  return (hostname, options, callback) => {
    const answer = (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]): void => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      const permitted = addresses.filter(({ address }) => policy.judge(address).ok);
      const [first] = permitted;
      if (first === undefined) callback(new ForbiddenAddressError(whyForbidden(policy, addresses)), '');
      else if (options.all === true) callback(null, permitted);
      else callback(null, first.address, first.family);
    };
    const fixed = policy.fixedAddress(hostname);
    if (fixed === undefined) lookup(hostname, { ...options, all: true }, answer);
    else process.nextTick(answer, null, [{ address: fixed, family: isIP(fixed) }]);
  };
}

function whyForbidden(policy: NetworkPolicy, addresses: dns.LookupAddress[]): string {
  const [first] = addresses;
  if (first === undefined) return 'the name has no address';
  const verdict = policy.judge(first.address);
  return verdict.ok ? 'the name has no address' : verdict.reason;
}
