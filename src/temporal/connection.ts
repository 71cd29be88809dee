/** How clients connect to a Temporal server: with retries and keepalives set here instead of the SDK's defaults. */
import { InterceptingCall, status } from '@grpc/grpc-js';
import {
  type Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  makeGrpcRetryInterceptor,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { causesOf, messageOf } from '../core/errors.ts';
import type { TemporalAccess, TemporalTarget } from './access.ts';
import { withHandshakeLimit } from './handshake-limit.ts';

/**
 * The SDK resends a failed call for about 25 s, 0.1 s after the first failure and at most 5 s apart. Everything Amble sends
 * may arrive twice: updates and signals carry ids, starts carry a workflow id. Callers that need a shorter limit set a
 * deadline, and activities are retried in any case.
 */
const MAX_ATTEMPTS = 10;

/**
 * A network that drops packets silently is detected after the sum of the two. The worker's own connection uses the SDK's 30 s
 * and 15 s, which cannot be set.
 */
const KEEPALIVE = { intervalMs: 15_000, timeoutMs: 5_000 };

export function connectTemporal(
  { address, access }: Pick<TemporalTarget, 'address' | 'access'>,
  keepalive = KEEPALIVE,
): Promise<Connection> {
  return withHandshakeLimit(keepalive.intervalMs + keepalive.timeoutMs).connect({
    address,
    ...clientOptions(access),
    interceptors: createInterceptors(),
    channelArgs: {
      'grpc.keepalive_permit_without_calls': 1,
      'grpc.keepalive_time_ms': keepalive.intervalMs,
      'grpc.keepalive_timeout_ms': keepalive.timeoutMs,
    },
  });
}

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/** Calls are repeated; what is still to be repeated when the connection is closed is cancelled. */
export function createInterceptors(): Interceptor[] {
  return [makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ maxAttempts: MAX_ATTEMPTS })), cancelWhenClosed];
}

/**
 * The SDK repeats a call from a timer. If its channel has been closed by then, making the call throws, and nothing but the process would
 * catch that.
 */
const cancelWhenClosed: Interceptor = (options, nextCall) => {
  try {
    return new InterceptingCall(nextCall(options));
  } catch (error) {
    const details = messageOf(error);
    return new InterceptingCall({
      start(metadata, listener) {
        // As every call without a response: the SDK's interceptor relies on the message that comes before the status.
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.({ code: status.CANCELLED, details, metadata });
      },
      sendMessageWithContext() {},
      sendMessage() {},
      startRead() {},
      halfClose() {},
      cancelWithStatus() {},
      getPeer: () => '',
      getAuthContext: () => null,
    });
  }
};

/** The SDK calls `apiKey` with every request, so a new key counts from the next one. */
export function clientOptions(access: TemporalAccess | undefined): ConnectionOptions {
  if (access === undefined) return {};
  const { tls, metadata, apiKey } = access;
  return { tls, metadata, ...(apiKey !== null && { apiKey }) };
}

/** gRPC's CANCELLED, DEADLINE_EXCEEDED and UNAVAILABLE: the caller gave up, or no server answered. */
const UNAVAILABLE_CODES = new Set([1, 4, 14]);

/** Whether the error is about reaching the Temporal server, and not about what it was asked. */
export function isTemporalUnavailable(error: unknown): boolean {
  return causesOf(error).some(
    (cause) =>
      cause instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
      (isGrpcServiceError(cause) && UNAVAILABLE_CODES.has(cause.code)),
  );
}

/** gRPC's INVALID_ARGUMENT and OUT_OF_RANGE. */
const REFUSED_CODES = new Set([3, 11]);

/** Whether the server will refuse this call every time, whatever state it is in: an id that is too long, a malformed text. */
export function isRefusedByTemporal(error: unknown): boolean {
  return causesOf(error).some((cause) => isGrpcServiceError(cause) && REFUSED_CODES.has(cause.code));
}
