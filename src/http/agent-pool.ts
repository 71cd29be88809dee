/** One agent per set of connection settings: crawls with the same settings share connections, others never do. */
import { LRUCache } from 'lru-cache';
import { type AgentOptions, createAgent, type HttpAgent } from './agent.ts';
import { createLookup } from './lookup.ts';
import { createNetworkPolicy, type NetworkPolicyOptions } from './network-policy.ts';

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
  return {
    agentFor({ allowNetwork, resolve, connectTimeoutMs }) {
      const names = Object.entries(resolve).sort();
      const key = JSON.stringify([allowNetwork, names, connectTimeoutMs]);
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
