/** Errors of our own, and what other people's errors hold. */

/** The user's input is wrong. The message is one sentence for the user, and retrying does not help. */
export class BadInput extends Error {
  override readonly name = 'BadInput';
}

/** No library nests deeper; an error that is its own cause would never end. */
const MAX_CAUSES = 10;

/** An error and its causes, outermost first: libraries wrap errors, and the reason is often the innermost. */
export function causesOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let one = error; one instanceof Error && chain.length < MAX_CAUSES; one = causeOf(one))
    chain.push(one);
  return chain;
}

/** Prisma keeps the error of its driver under another name. */
function causeOf(error: Error): unknown {
  return error.cause ?? property(property(error, 'meta'), 'driverAdapterError');
}

/** Such as `ECONNREFUSED`; null: it has none. */
export function codeOf(error: unknown): string | number | null {
  // The driver's error has a description instead of a code; the code of Postgres is in its cause.
  const code = property(error, 'code') ?? property(property(error, 'cause'), 'originalCode');
  return typeof code === 'string' || typeof code === 'number' ? code : null;
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Any value may be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
