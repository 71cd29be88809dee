export { type AgentOptions, makeAgent } from './agent.ts';
export { type AgentPool, makeAgentPool } from './agent-pool.ts';
export { clip } from './clip.ts';
export { isHtmlType, isSniffed, matchesType, typeOf } from './content-type.ts';
export {
  type ErrorKind,
  type Exchange,
  type FailedExchange,
  isTimeout,
  linesOf,
  type RefusedExchange,
  type ResponseExchange,
  type ResponseHeaders,
} from './exchange.ts';
export { type Lookup, makeLookup } from './lookup.ts';
export {
  makeNetworkPolicy,
  type NetworkPolicy,
  type NetworkPolicyOptions,
  parseCidr,
} from './network-policy.ts';
export { type GateVerdict, type RequestOptions, sendRequest } from './request.ts';
export { parseRetryAfter } from './retry-after.ts';
export { type Identity, identityHeaders, PRODUCT_TOKEN, productToken } from './user-agent.ts';
