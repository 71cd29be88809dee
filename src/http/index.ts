export { type AgentOptions, makeAgent } from './agent.ts';
export { type AgentPool, makeAgentPool } from './agent-pool.ts';
export type {
  ErrorKind,
  Exchange,
  FailedExchange,
  RefusedExchange,
  ResponseExchange,
  ResponseHeaders,
} from './exchange.ts';
export {
  makeNetworkPolicy,
  type NetworkPolicy,
  type NetworkPolicyOptions,
  parseCidr,
} from './network-policy.ts';
export { type GateVerdict, type RequestOptions, sendRequest } from './request.ts';
export { parseRetryAfter } from './retry-after.ts';
export { PRODUCT_TOKEN, productToken } from './user-agent.ts';
