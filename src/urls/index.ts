export { urlHash } from './hash.ts';
export { hostnameOf, originOf, type PolitenessUnit, politenessKey, siteOf } from './hosts.ts';
export {
  MAX_URL_LENGTH,
  NO_RULES,
  type NormalisedUrl,
  normaliseRedirect,
  normaliseUrl,
} from './normalise.ts';
export { fits } from './pattern.ts';
export {
  countSkip,
  type FollowRule,
  inScope,
  type ScopeRule,
  type SkipCounts,
  type SkipReason,
  sumSkips,
  whyNotFollow,
} from './scope.ts';
export { type Place, placeInDomain, placeOf, type Shape, shapeOf } from './shape.ts';
export { trapOf } from './traps.ts';
