export { type AgentOptions, type AgentPool, createAgent, createAgentPool } from './agent.ts';
export { contentTypeOf, isHtmlType, isSniffed, matchesType } from './content-type.ts';
export {
  type ErrorKind,
  type Exchange,
  type FailedExchange,
  headerLines,
  isTimeout,
  type RefusedExchange,
  type ResponseExchange,
  type ResponseHeaders,
} from './exchange.ts';
export { createLookup, type Lookup } from './lookup.ts';
export {
  createNetworkPolicy,
  type NetworkPolicy,
  type NetworkPolicyOptions,
  parseCidr,
} from './network-policy.ts';
export { type GateVerdict, type RequestOptions, sendRequest } from './request.ts';
export { parseRetryAfter } from './retry-after.ts';
export { type Identity, identityHeaders, PRODUCT_TOKEN, productToken } from './user-agent.ts';
