/** What `amble verify` proves, and from which records. */
export { describeViolation, severityMs } from './describe-violation.ts';
export { spareMs } from './gaps.ts';
export { prove, type Records } from './prove.ts';
export type * from './types.ts';
