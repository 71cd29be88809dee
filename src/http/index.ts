export { type AddressLimits, addressBlockOf, type Cidr, containsAddress } from './address.ts';
export { type AgentOptions, type AgentPool, createAgent, createAgentPool } from './agent.ts';
export { BodyMemory, type FetchMemory } from './body-memory.ts';
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
  parseCidrOrThrow,
} from './network-policy.ts';
export type { LookupVerdict } from './origin-addresses.ts';
export type { AdmissionVerdict, RequestOptions, StartVerdict } from './request-options.ts';
export { parseRetryAfter } from './retry-after.ts';
export { sendRequest } from './send-request.ts';
export { type Identity, identityHeaders, PRODUCT_TOKEN, productToken } from './user-agent.ts';
