/** What `amble verify` proves, and from which records. */
export { spareMs } from './gaps.ts';
export { prove, type Records } from './prove.ts';
export type * from './types.ts';
