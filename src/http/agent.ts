/**
 * An undici Agent that checks the very address it connects to against the network policy. Check and use are one step, so a name
 * that resolves differently the second time (DNS rebinding) gains nothing.
 */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { Agent, buildConnector } from 'undici';
import { isBlockedPort } from './forbidden-targets.ts';
import { createLookup, type Lookup } from './lookup.ts';
import { createNetworkPolicy, type NetworkPolicy, type NetworkPolicyOptions } from './network-policy.ts';
import { ForbiddenAddressError, OriginAddresses } from './origin-addresses.ts';
import { PendingDispatches } from './pending-dispatches.ts';

/** Many servers close idle connections after 5 s. Reusing one at that moment would cost a page an attempt. */
const IDLE_MS = 4_000;
/** A longer idle time that the server announces is used up to this. */
const MAX_IDLE_MS = 30_000;

/** For all headers of a response together. Node allows 16 KiB, but sites that set many cookies send more. */
const MAX_HEADER_BYTES = 64 * 1024;

export interface AgentOptions {
  policy: NetworkPolicy;
  /** For the DNS lookup, and again for connecting and the TLS handshake. */
  connectTimeoutMs: number;
  /** Certificate authorities to trust instead of the default ones, in PEM. */
  ca?: string;
  /** Default: the hosts file, then the system's name servers. */
  lookup?: Lookup;
}

export type HttpAgent = Agent & {
  /** It connects only for requests that are registered here. */
  readonly pending: PendingDispatches;
  readonly addresses: OriginAddresses;
};

/** Connections are reused only within one agent, so two policies never share one. */
export function createAgent({
  policy,
  connectTimeoutMs,
  ca,
  lookup = createLookup(),
}: AgentOptions): HttpAgent {
  const addresses = new OriginAddresses(policy, lookup, connectTimeoutMs);
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup: addresses.guardedLookup,
    // It would connect to the other addresses of a name at once, without a turn there.
    autoSelectFamily: false,
    ...(ca === undefined ? {} : { ca }),
  });
  const pending = new PendingDispatches();
  const agent = new Agent({
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Node writes HTTP/2 frames in a later turn of the event loop than the one that calls `mayStart`, or whenever the server's
    // stream limit allows it. The start of a request, from which the gap is measured, would be unknown.
    allowH2: false,
    connect(options, callback) {
      const origin = `${options.protocol}//${options.host}`;
      const refusal = refusalOf(policy, options);
      if (!pending.has(origin)) callback(new Error('no request waits for this connection'), null);
      else if (refusal !== null) callback(new ForbiddenAddressError(refusal), null);
      else
        connect(options, (...result) => {
          if (result[0] !== null) return callback(...result);
          const [, socket] = result;
          addresses.track(origin, options.hostname, socket);
          pending.markConnected(origin);
          if (options.protocol !== 'https:') return callback(null, socket);
          // In this turn the last message of the handshake is still being written, and Node 26 queues the request behind it
          // until the next one: `mayStart` would not be called in the tick of the write.
          setImmediate(() => (socket.destroyed ? callback(closedError(), null) : callback(null, socket)));
        });
    },
  });
  return Object.assign(agent, { pending, addresses });
}

function closedError(): Error {
  return Object.assign(new Error('the connection was closed after the handshake'), { code: 'ECONNRESET' });
}

/** Checks the port, and an address in the URL, which node:net never looks up. */
function refusalOf(
  policy: NetworkPolicy,
  { hostname, port }: { hostname: string; port: string },
): string | null {
  if (isBlockedPort(port)) return `port ${port} belongs to another protocol (Fetch standard, bad ports)`;
  if (isIP(hostname) === 0) return null;
  const result = policy.check(hostname);
  return result.ok ? null : result.reason;
}

/** One agent per set of connection settings: crawls with the same settings share connections, others never do. */
export interface AgentPool {
  agentFor(settings: NetworkPolicyOptions & Pick<AgentOptions, 'connectTimeoutMs'>): HttpAgent;
  /** Closes every connection. Requests in flight fail. */
  destroy(): Promise<void>;
}

/** Few different settings are in use at a time. An agent that is evicted closes once its requests have ended. */
const MAX_AGENTS = 32;

export function createAgentPool(): AgentPool {
  const agents = new LRUCache<string, HttpAgent>({
    max: MAX_AGENTS,
    dispose(agent, _key, reason) {
      if (reason === 'evict') void agent.close();
    },
  });
  const lookup = createLookup();
  // A crawl may name thousands of hosts, and its settings are asked for with each fetch.
  const digests = new WeakMap<object, string>();
  const digestOf = (resolve: NetworkPolicyOptions['resolve']): string => {
    const digest = digests.get(resolve) ?? sha256(JSON.stringify(Object.entries(resolve).sort()));
    digests.set(resolve, digest);
    return digest;
  };
  return {
    agentFor({ allowNetwork, resolve, connectTimeoutMs }) {
      const key = JSON.stringify([allowNetwork, digestOf(resolve), connectTimeoutMs]);
      const known = agents.get(key);
      if (known !== undefined) return known;
      const policy = createNetworkPolicy({ allowNetwork, resolve });
      const agent = createAgent({ policy, connectTimeoutMs, lookup });
      agents.set(key, agent);
      return agent;
    },
    async destroy() {
      const all = [...agents.values()];
      agents.clear();
      await Promise.all(all.map((agent) => agent.destroy()));
    },
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
