/** Temporal's runtime in this process: where its log goes, and the port of its metrics and ours. */
import { IllegalStateError, type MetricMeter } from '@temporalio/common';
import { Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { BadInput, messageOf } from '../core/errors.ts';
import type { DependencyHealth } from './dependency-health.ts';
import { HISTOGRAM_BUCKETS } from './metrics.ts';
import { createTemporalLogger } from './temporal-logger.ts';

/**
 * Sends the SDK's log, including its core's, which would go to standard output, to ours. A process that has installed its own
 * runtime before keeps it.
 */
export function installRuntime(
  log: Logger,
  dependencies: DependencyHealth,
  metricsListen: string | null,
): MetricMeter {
  try {
    Runtime.install({
      logger: createTemporalLogger(log, dependencies),
      telemetryOptions: {
        logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
        ...(metricsListen !== null && { metrics: metricsOptions(metricsListen) }),
      },
      shutdownSignals: [],
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw explained(error, metricsListen);
  }
  return Runtime.instance().metricMeter;
}

/** Names and units as Prometheus recommends them. */
function metricsOptions(bindAddress: string) {
  return {
    attachServiceName: false,
    prometheus: {
      bindAddress,
      countersTotalSuffix: true,
      unitSuffix: true,
      useSecondsForDurations: true,
      histogramBucketOverrides: HISTOGRAM_BUCKETS,
    },
  };
}

function explained(error: unknown, metricsListen: string | null): unknown {
  const reason = /prometheus metrics exporter: (.+?)(?: \(os error \d+\))?$/.exec(messageOf(error))?.[1];
  return reason === undefined
    ? error
    : new BadInput(`The metrics cannot be served at ${metricsListen} (metrics.listen): ${reason}.`);
}
