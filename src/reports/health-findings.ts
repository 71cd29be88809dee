/** What is wrong with an installation, and what to do about it. */
import { CONTENT_STORE } from '../core/content-location.ts';
import { formatDuration, formatPlural } from '../core/format.ts';
import { describeOrigin, type OrderOrigin } from '../core/order.ts';
import type { OpenCrawl } from '../storage/reports/silent-crawls.ts';
import type { SeenWorker } from '../storage/workers.ts';

/** null: it could not be read. */
export interface HealthFacts {
  /** Error of the last try. null: it answered. */
  postgresError: string | null;
  temporalError: string | null;
  contentStore: {
    name: string;
    /** It is not a directory of this machine: only the workers know its state. */
    isBucket: boolean;
    error: string | null;
    freeBytes: number | null;
    sizeBytes: number | null;
  };
  /** How far this machine's clock is ahead of Postgres's. null: Postgres did not answer. */
  clockOffsetMs: number | null;
  databaseBytes: number | null;
  workers: SeenWorker[] | null;
  /** Tasks that wait for a worker, by task queue. */
  backlog: { queue: string; tasks: number; oldestMs: number }[] | null;
  crawls: (OpenCrawl & WaitingFor)[] | null;
  /** The order that stopped everything. null: nothing is stopped, or it could not be read. */
  stop: OrderOrigin | null;
}

/** Of a crawl without a page for long. */
export interface WaitingFor {
  /** As the end of a sentence, if its domains explain that. null: they do not, or there is nothing to explain. */
  waitsFor: string | null;
  /** Nothing but orders of operators and long gaps hold it back: nothing is wrong. */
  asOrdered: boolean;
}

export type StoreState = 'available' | 'unavailable' | 'not known';

export function contentStoreState({
  contentStore,
  workers,
}: Pick<HealthFacts, 'contentStore' | 'workers'>): StoreState {
  if (contentStore.error !== null) return 'unavailable';
  if (!contentStore.isBucket) return 'available';
  if (workers === null || workers.length === 0) return 'not known';
  return workers.some(({ unavailable }) => unavailable.includes(CONTENT_STORE)) ? 'unavailable' : 'available';
}

export interface Finding {
  /** `bad`: crawls stand still or will soon. `warn`: worth a look. */
  level: 'bad' | 'warn';
  what: string;
  cure: string;
}

/** No page for so long, although some are due: something is wrong. */
export const STALLED_AFTER_MS = 20 * 60_000;

/** The gate has one clock, Postgres's; a difference only confuses people who compare logs. */
const MAX_CLOCK_OFFSET_MS = 10_000;

/** A polite crawl has no backlog: a task that waits for longer has no worker, or one that is busy. */
const MAX_BACKLOG_AGE_MS = 60_000;
const MAX_LAG_MS = 1_000;
const LOW_DISK_BYTES = 1024 ** 3;
const LOW_DISK_SHARE = 0.05;

export function findProblems(facts: HealthFacts, now: Date): Finding[] {
  return [
    ...dependencyFindings(facts),
    ...workerFindings(facts),
    ...(facts.stop === null
      ? (facts.crawls?.flatMap((crawl) => stalled(crawl, now)) ?? [])
      : [warn(`Everything is stopped ${describeOrigin(facts.stop)}.`, 'To resume: "amble resume-all".')]),
  ];
}

function dependencyFindings({
  postgresError,
  temporalError,
  contentStore,
  clockOffsetMs,
}: HealthFacts): Finding[] {
  const { name, error, freeBytes, sizeBytes } = contentStore;
  const low =
    freeBytes !== null && (freeBytes < LOW_DISK_BYTES || freeBytes < LOW_DISK_SHARE * (sizeBytes ?? 0));
  return [
    ...(postgresError === null
      ? []
      : [bad(`Postgres is unavailable: ${postgresError}`, 'Start it, or check DATABASE_URL.')]),
    ...(temporalError === null
      ? []
      : [
          bad(
            `Temporal is unavailable: ${temporalError}`,
            'Start it ("amble up" starts one), or check TEMPORAL_ADDRESS.',
          ),
        ]),
    ...(error === null
      ? []
      : [
          bad(
            `The content store ${name} cannot be written: ${error}`,
            'Mount it, free space, or correct its permissions.',
          ),
        ]),
    ...(low
      ? [
          (freeBytes < LOW_DISK_BYTES / 10 ? bad : warn)(
            `The disk of the content store has ${Math.round(freeBytes / 1024 ** 2).toLocaleString('en')} MiB left.`,
            'Free space before it is full: crawls wait then.',
          ),
        ]
      : []),
    ...(clockOffsetMs !== null && Math.abs(clockOffsetMs) > MAX_CLOCK_OFFSET_MS
      ? [clockFinding('This machine', clockOffsetMs)]
      : []),
  ];
}

function workerFindings({ workers, crawls, backlog, temporalError }: HealthFacts): Finding[] {
  const isNeeded = crawls?.some(({ status, open }) => status !== 'Paused' && open > 0) ?? false;
  return [
    ...(workers?.length === 0 && isNeeded && temporalError === null
      ? [bad('No worker is running, but crawls are open.', 'Start one with "amble worker", or "amble up".')]
      : []),
    ...(workers ?? []).flatMap(({ identity, eventLoopLagMs, unavailable, clockOffsetMs }) => [
      ...(unavailable.length === 0
        ? []
        : [
            bad(
              `Worker ${identity} cannot reach: ${unavailable.join(', ')}.`,
              'Check the network and the settings of that machine.',
            ),
          ]),
      ...(eventLoopLagMs > MAX_LAG_MS
        ? [
            warn(
              `Worker ${identity} was blocked for ${formatDuration(eventLoopLagMs)}.`,
              'Give it more CPU, or start another worker.',
            ),
          ]
        : []),
      ...(Math.abs(clockOffsetMs) > MAX_CLOCK_OFFSET_MS
        ? [clockFinding(`Worker ${identity}`, clockOffsetMs)]
        : []),
    ]),
    ...(backlog ?? [])
      .filter(({ tasks, oldestMs }) => tasks > 0 && oldestMs > MAX_BACKLOG_AGE_MS)
      .map(({ queue, tasks, oldestMs }) =>
        warn(
          `${formatPlural(tasks, 'task')} of the queue ${queue} wait for a worker, the oldest for ${formatDuration(oldestMs)}.`,
          'Start another worker.',
        ),
      ),
  ];
}

function stalled(
  { id, status, due, lastDoneAt, waitsFor, asOrdered }: NonNullable<HealthFacts['crawls']>[number],
  now: Date,
): Finding[] {
  const silentMs = now.getTime() - lastDoneAt.getTime();
  if (status !== 'Running' || due === 0 || silentMs < STALLED_AFTER_MS) return [];
  const what = `${id} is stalled: no page for ${formatDuration(silentMs)} while ${formatPlural(due, 'page is', 'pages are')} due`;
  return [
    waitsFor === null
      ? bad(
          `${what}.`,
          `See what its workflow does in the Temporal Web UI, or continue it with "amble crawl --id ${id}".`,
        )
      : (asOrdered ? warn : bad)(
          `${what}; ${waitsFor}.`,
          `"amble domain" and the page of the crawl show when it goes on.`,
        ),
  ];
}

function clockFinding(whose: string, offsetMs: number): Finding {
  const direction = offsetMs > 0 ? 'ahead of' : 'behind';
  return warn(
    `${whose} has a clock that is ${formatDuration(Math.abs(offsetMs))} ${direction} Postgres's.`,
    'Run a time service such as chrony. Gaps are kept in any case: only the clock of Postgres counts.',
  );
}

function bad(what: string, cure: string): Finding {
  return { level: 'bad', what, cure };
}

function warn(what: string, cure: string): Finding {
  return { level: 'warn', what, cure };
}
