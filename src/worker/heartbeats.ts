/**
 * Sends heartbeats for every activity that has a heartbeat timeout. They mean that the worker is alive, not that the activity
 * makes progress, which its start-to-close timeout bounds.
 */
import type { Context } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';

/** Two may be lost before the activity times out. */
const HEARTBEATS_PER_TIMEOUT = 3;

export function heartbeats(context: Context): { inbound: ActivityInboundCallsInterceptor } {
  const { heartbeatTimeoutMs, isLocal } = context.info;
  return {
    inbound: {
      async execute(input, next) {
        if (isLocal || heartbeatTimeoutMs === undefined || heartbeatTimeoutMs === 0) return next(input);
        const timer = setInterval(() => context.heartbeat(), heartbeatTimeoutMs / HEARTBEATS_PER_TIMEOUT);
        try {
          return await next(input);
        } finally {
          clearInterval(timer);
        }
      },
    },
  };
}
