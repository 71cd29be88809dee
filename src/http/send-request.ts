/** Sends a request once it is admitted to the address that it goes to, which is looked up first. */
import type { Exchange } from './exchange.ts';
import { describeFailure } from './failure.ts';
import { dispatchRequest } from './request.ts';
import type { RequestOptions } from './request-options.ts';

/** Rejects if the request is malformed, or if `admit` rejects. */
export async function sendRequest(options: RequestOptions): Promise<Exchange> {
  const { url, agent, admit, signal } = options;
  if (admit === undefined || signal?.aborted) return dispatchRequest(options, null);
  const { origin, host } = new URL(url);
  const began = performance.now();
  const next = await agent.addresses.next(origin).catch((error: Error) => error);
  if (next instanceof Error) {
    const failure = describeFailure(next, { host, phase: 'connecting' });
    return { kind: 'error', ...failure, startedAt: null, durationMs: Math.round(performance.now() - began) };
  }
  const verdict = await admit(next).catch((error: unknown) => {
    if (!signal?.aborted) throw error;
    return { go: true } as const;
  });
  return verdict.go
    ? dispatchRequest(options, next)
    : { kind: 'refused', reason: verdict.reason, connected: false };
}
