/** What `amble verify` proves, and from what. */
export { spareMs } from './gaps.ts';
export { prove, type Records } from './prove.ts';
export type {
  DomainProof,
  ExcessAttempts,
  Gap,
  Proof,
  RecordedRequest,
  RequestedPoliteness,
  StoredRules,
  Violation,
} from './types.ts';
