/** Sends a request once it is admitted to the address that it goes to, which is looked up first. */
import type { ErrorKind, Exchange, FailedExchange } from './exchange.ts';
import { describeFailure } from './failure.ts';
import { ForbiddenAddressError, LookupError, LookupRefusedError } from './origin-addresses.ts';
import { dispatchRequest } from './request.ts';
import type { RequestOptions } from './request-options.ts';

/** Another address may do better. */
const NO_CONNECTION: ReadonlySet<ErrorKind> = new Set(['refused', 'unreachable', 'connect-timeout']);

/** Rejects if the request is malformed, or if `admit` rejects. */
export async function sendRequest(options: RequestOptions): Promise<Exchange> {
  const { url, agent, admit, signal } = options;
  if (admit === undefined || signal?.aborted) return dispatchRequest(options, null);
  const { origin, host } = new URL(url);
  const began = performance.now();
  let next: string;
  try {
    next = await agent.addresses.next(origin, options);
    const verdict = await admit(next);
    if (!verdict.go) return { kind: 'refused', reason: verdict.reason, connectedMs: null };
  } catch (error) {
    // Nothing is sent: it finds that the request was aborted.
    if (signal?.aborted) return dispatchRequest(options, null);
    if (error instanceof LookupRefusedError)
      return { kind: 'refused', reason: error.message, connectedMs: null };
    if (!(error instanceof LookupError || error instanceof ForbiddenAddressError)) throw error;
    const failure = describeFailure(error, { host, phase: 'connecting' });
    return { kind: 'error', ...failure, startedAt: null, durationMs: Math.round(performance.now() - began) };
  }
  const exchange = await dispatchRequest(options, next);
  if (!couldNotConnect(exchange) || !agent.addresses.connectionFailed(origin, next)) return exchange;
  const reason = `${exchange.message} ${host} has other addresses.`;
  return { kind: 'refused', reason, connectedMs: exchange.durationMs };
}

function couldNotConnect(exchange: Exchange): exchange is FailedExchange {
  return exchange.kind === 'error' && exchange.startedAt === null && NO_CONNECTION.has(exchange.errorKind);
}
