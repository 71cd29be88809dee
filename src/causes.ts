/** An error and what it was caused by, outermost first: libraries wrap, and the reason is often at the bottom. */

/** Nothing honest is nested deeper; an error that is its own cause would never end. */
const DEEPEST = 10;

export function causesOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let one = error; one instanceof Error && chain.length < DEEPEST; one = one.cause) chain.push(one);
  return chain;
}

export function codeOf(error: Error): string | number | null {
  if (!('code' in error)) return null;
  return typeof error.code === 'string' || typeof error.code === 'number' ? error.code : null;
}

/** Anything may be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
