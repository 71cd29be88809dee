/**
 * Says for every activity whose death is to be missed early that its worker lives. Not that it makes progress: that is what
 * its time-out is for.
 */
import type { Context } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';

/** Two may be lost, or late, before anybody is taken for dead. */
const BEATS_PER_TIMEOUT = 3;

export function heartbeats(context: Context): { inbound: ActivityInboundCallsInterceptor } {
  const { heartbeatTimeoutMs, isLocal } = context.info;
  return {
    inbound: {
      async execute(input, next) {
        if (isLocal || heartbeatTimeoutMs === undefined || heartbeatTimeoutMs === 0) return next(input);
        const beat = setInterval(() => context.heartbeat(), heartbeatTimeoutMs / BEATS_PER_TIMEOUT);
        try {
          return await next(input);
        } finally {
          clearInterval(beat);
        }
      },
    },
  };
}
