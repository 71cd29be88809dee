export { type HostBound, hostBound, hostKey, portBound } from './host-bounds.ts';
export { hostnameOf, originOf, type PolitenessUnit, politenessKey, siteOf, zoneOf } from './hosts.ts';
export {
  MAX_URL_LENGTH,
  NO_RULES,
  type NormalisedUrl,
  normaliseRedirect,
  normaliseUrl,
  urlHash,
} from './normalise.ts';
export { matchesPattern } from './pattern.ts';
export {
  countSkip,
  type FollowRule,
  inScope,
  type ScopeRule,
  type SkipCounts,
  type SkipReason,
  skipReasonFor,
  sumSkips,
} from './scope.ts';
export { detectTrap, domainQuota, quotaOf, type Shape, shapeOf, type UrlQuota } from './traps.ts';
