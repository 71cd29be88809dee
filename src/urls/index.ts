export { urlHash } from './hash.ts';
export { hostnameOf, originOf, type PolitenessUnit, politenessKey, siteOf } from './hosts.ts';
export { MAX_URL_LENGTH, type NormalisedUrl, normaliseUrl } from './normalise.ts';
export { inScope, type ScopeRule } from './scope.ts';
