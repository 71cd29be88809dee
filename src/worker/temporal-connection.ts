/** The one way to a Temporal server for clients. The SDK's own retries and keepalives are set here, not left to defaults. */
import { Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

/**
 * What the server did not take is sent again by the SDK, at 0.1 s and then up to 5 s apart, for some 25 s. All that Amble
 * sends can be sent twice: updates and signals carry ids of their own, starts a workflow's. Where that is too long or too
 * short, the caller has a deadline, and activities are tried again anyway.
 */
const ATTEMPTS = 10;

/**
 * A network that swallows everything, without a reset, is noticed after the sum of these. A worker's own connection has others,
 * which the SDK does not let us set: 30 s and 15 s.
 */
const KEEPALIVE = { everyMs: 15_000, withinMs: 5_000 };

export function connectTemporal(address: string, keepalive = KEEPALIVE): Promise<Connection> {
  return Connection.connect({
    address,
    interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ maxAttempts: ATTEMPTS }))],
    channelArgs: {
      'grpc.keepalive_permit_without_calls': 1,
      'grpc.keepalive_time_ms': keepalive.everyMs,
      'grpc.keepalive_timeout_ms': keepalive.withinMs,
    },
  });
}
