/** One agent per way of connecting: crawls with the same network settings share connections, others never do. */
import { type AgentOptions, createAgent, type HttpAgent } from './agent.ts';
import { createLookup } from './lookup.ts';
import { createNetworkPolicy, type NetworkPolicyOptions } from './network-policy.ts';

export interface AgentPool {
  agentFor(settings: NetworkPolicyOptions & Pick<AgentOptions, 'connectTimeoutMs'>): HttpAgent;
  /** Ends every connection; requests under way fail. */
  destroy(): Promise<void>;
}

/** A worker meets few different settings at a time; the agent unused for longest is closed once its requests end. */
const MAX_AGENTS = 32;

export function createAgentPool(): AgentPool {
  const agents = new Map<string, HttpAgent>();
  const lookup = createLookup();
  return {
    agentFor({ allowNetwork, resolve, connectTimeoutMs }) {
      const names = Object.entries(resolve).sort();
      const key = JSON.stringify([allowNetwork, names, connectTimeoutMs]);
      const policy = createNetworkPolicy({ allowNetwork, resolve });
      const agent = agents.get(key) ?? createAgent({ policy, connectTimeoutMs, lookup });
      agents.delete(key);
      agents.set(key, agent);
      const [oldest] = agents;
      if (agents.size > MAX_AGENTS && oldest !== undefined) {
        agents.delete(oldest[0]);
        void oldest[1].close();
      }
      return agent;
    },
    async destroy() {
      const all = [...agents.values()];
      agents.clear();
      await Promise.all(all.map((agent) => agent.destroy()));
    },
  };
}
