/** An error and what it was caused by, outermost first: libraries wrap, and the reason is often at the bottom. */

/** Nothing honest is nested deeper; an error that is its own cause would never end. */
const DEEPEST = 10;

export function causesOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let one = error; one instanceof Error && chain.length < DEEPEST; one = beneath(one)) chain.push(one);
  return chain;
}

/** Prisma has what its driver met in a place of its own. */
function beneath(error: Error): unknown {
  return error.cause ?? part(part(error, 'meta'), 'driverAdapterError');
}

export function codeOf(error: Error): string | number | null {
  // The driver's error is no code but a description, and has the one of Postgres in it.
  const code = part(error, 'code') ?? part(error.cause, 'originalCode');
  return typeof code === 'string' || typeof code === 'number' ? code : null;
}

function part(whole: unknown, name: string): unknown {
  return typeof whole === 'object' && whole !== null ? Reflect.get(whole, name) : undefined;
}

/** Anything may be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
