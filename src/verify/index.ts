/** What `amble verify` proves, and from what. */
export { spareMs } from './gaps.ts';
export { prove, type Records } from './prove.ts';
export type {
  DomainProof,
  Gap,
  KeptRules,
  OverTried,
  Proof,
  RecordedRequest,
  Violation,
  Wish,
} from './types.ts';
