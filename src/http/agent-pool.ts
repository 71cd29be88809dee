/** One agent per way of connecting: crawls with the same network settings share connections, others never do. */
import type { Agent } from 'undici';
import { makeAgent } from './agent.ts';
import { makeNetworkPolicy, type NetworkPolicyOptions } from './network-policy.ts';

export interface AgentPool {
  agentFor(settings: NetworkPolicyOptions & { connectTimeoutMs: number }): Agent;
  /** Ends every connection; requests under way fail. */
  destroy(): Promise<void>;
}

/** A worker meets few different settings at a time; the agent unused for longest is closed once its requests end. */
const MAX_AGENTS = 32;

export function makeAgentPool(): AgentPool {
  const agents = new Map<string, Agent>();
  return {
    agentFor({ allowNetworks, resolve, connectTimeoutMs }) {
      const key = JSON.stringify([allowNetworks, Object.entries(resolve).sort(), connectTimeoutMs]);
      const agent =
        agents.get(key) ??
        makeAgent({ policy: makeNetworkPolicy({ allowNetworks, resolve }), connectTimeoutMs });
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
