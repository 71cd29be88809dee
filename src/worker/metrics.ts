/**
 * What a worker counts and measures. It goes to the meter of Temporal's runtime, which serves it on the same port as the SDK's own
 * metrics. Labels have few values each: a host name in one would be a time series for every site of the web.
 */
import type { MetricCounter, MetricGauge, MetricHistogram, MetricMeter } from '@temporalio/common';
import type { AttemptReport } from '../core/attempt.ts';
import type { FinalStatus } from '../core/outcome.ts';
import type { Exchange } from '../http/index.ts';

/** For what a site takes: from a cached page next door to the longest timeout. */
const SITE_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** For waits that are delays of a polite crawl, and grow with its window. */
const SLOT_SECONDS = [0.1, 1, 5, 10, 30, 60, 300, 1_800, 3_600];
/** For our own side, which should take milliseconds. */
const OWN_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

const HISTOGRAMS = {
  amble_fetch_seconds: { buckets: SITE_SECONDS, help: 'From the start of a request to the end of its body.' },
  amble_slot_wait_seconds: {
    buckets: SLOT_SECONDS,
    help: "From a page's first ask for a slot to its request.",
  },
  amble_gate_wait_seconds: { buckets: OWN_SECONDS, help: 'Time at the gate of a domain before a request.' },
  amble_start_lateness_seconds: {
    buckets: SITE_SECONDS,
    help: 'How long after its slot a request was written.',
  },
  amble_database_seconds: { buckets: OWN_SECONDS, help: 'Statements of the steps of pages in Postgres.' },
  amble_content_store_seconds: { buckets: OWN_SECONDS, help: 'Operations on the content store.' },
  amble_event_loop_lag_seconds: { buckets: OWN_SECONDS, help: 'How late a timer of this process was.' },
} as const;

const COUNTERS = {
  amble_pages: 'Pages that got their final status.',
  amble_attempts: 'Attempts on record.',
  amble_received_bytes: 'Decoded bytes of response bodies.',
} as const;

const GAUGES = {
  amble_open_requests: 'Requests that are open or hold a fetch slot.',
  amble_waiting_requests: 'Requests that wait for a fetch slot of this process.',
  amble_dependency_up: 'Whether a dependency is available to this process: 1 or 0.',
  amble_content_store_free_bytes: 'Free space of the file system with the content store.',
  amble_content_store_size_bytes: 'Size of the file system with the content store.',
} as const;

/** For the exporter, by name. */
export const HISTOGRAM_BUCKETS: Record<string, number[]> = Object.fromEntries(
  Object.entries(HISTOGRAMS).map(([name, { buckets }]) => [name, [...buckets]]),
);

/** As Prometheus shows them, for the test of the documentation. */
export const WORKER_METRIC_NAMES: readonly string[] = [
  ...Object.keys(COUNTERS).map((name) => `${name}_total`),
  ...Object.keys(HISTOGRAMS),
  ...Object.keys(GAUGES),
];

export class WorkerMetrics {
  readonly #counters: Record<keyof typeof COUNTERS, MetricCounter>;
  readonly #histograms: Record<keyof typeof HISTOGRAMS, MetricHistogram>;
  readonly #gauges: Record<keyof typeof GAUGES, MetricGauge>;

  constructor(meter: MetricMeter) {
    this.#counters = mapValues(COUNTERS, (help, name) => meter.createCounter(name, undefined, help));
    this.#histograms = mapValues(HISTOGRAMS, ({ help }, name) =>
      meter.createHistogram(name, 'float', undefined, help),
    );
    this.#gauges = mapValues(GAUGES, (help, name) => meter.createGauge(name, 'int', undefined, help));
  }

  /** Once per attempt, also if its record is repeated. */
  attemptRecorded({ outcome, errorKind }: AttemptReport, slotWaitMs: number): void {
    this.#counters.amble_attempts.add(1, { outcome, error_kind: errorKind ?? 'none' });
    this.#histograms.amble_slot_wait_seconds.record(slotWaitMs / 1_000);
  }

  pageEnded(status: FinalStatus): void {
    this.#counters.amble_pages.add(1, { status });
  }

  /** A request that was written, or a connection that failed. */
  fetched(exchange: Exclude<Exchange, { kind: 'refused' }>): void {
    this.#histograms.amble_fetch_seconds.record(exchange.durationMs / 1_000, {
      response: responseOf(exchange),
    });
    if (exchange.kind === 'response') this.#counters.amble_received_bytes.add(exchange.bodyBytes);
  }

  gatePassed(waitMs: number): void {
    this.#histograms.amble_gate_wait_seconds.record(waitMs / 1_000);
  }

  requestStarted(latenessMs: number): void {
    this.#histograms.amble_start_lateness_seconds.record(Math.max(0, latenessMs) / 1_000);
  }

  statementEnded(tookMs: number): void {
    this.#histograms.amble_database_seconds.record(tookMs / 1_000);
  }

  storeUsed(operation: 'put' | 'get' | 'has', tookMs: number): void {
    this.#histograms.amble_content_store_seconds.record(tookMs / 1_000, { operation });
  }

  eventLoopLagged(lagMs: number): void {
    this.#histograms.amble_event_loop_lag_seconds.record(Math.max(0, lagMs) / 1_000);
  }

  setRequests({ open, waiting }: { open: number; waiting: number }): void {
    this.#gauges.amble_open_requests.set(open);
    this.#gauges.amble_waiting_requests.set(waiting);
  }

  setDependency(dependency: string, up: boolean): void {
    this.#gauges.amble_dependency_up.set(up ? 1 : 0, { dependency });
  }

  setStoreSpace({ freeBytes, sizeBytes }: { freeBytes: number; sizeBytes: number }): void {
    this.#gauges.amble_content_store_free_bytes.set(freeBytes);
    this.#gauges.amble_content_store_size_bytes.set(sizeBytes);
  }
}

/** `2xx` to `5xx`, or `none`: no complete response. */
function responseOf(exchange: Exclude<Exchange, { kind: 'refused' }>): string {
  return exchange.kind === 'response' ? `${Math.floor(exchange.status / 100)}xx` : 'none';
}

function mapValues<K extends string, V, R>(of: Record<K, V>, map: (value: V, key: K) => R): Record<K, R>;
function mapValues(of: Record<string, unknown>, map: (value: unknown, key: string) => unknown): object {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, map(value, key)]));
}
