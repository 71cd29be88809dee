/** `npm run soak` sets AMBLE_SOAK=1: every fault, all hostile pages and the full number of random cases. */
export const SOAK = process.env.AMBLE_SOAK === '1';

/** Random cases of a property: all of them in a soak, a tenth in `npm test`. */
export function randomCases(full: number): number {
  return SOAK ? full : Math.ceil(full / 10);
}
