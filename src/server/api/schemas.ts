/** What the API takes and returns, for the handlers and for the OpenAPI document alike. */
import { z } from '@hono/zod-openapi';
import { crawlShape } from '../../config/index.ts';
import { ORDER_CHANNELS } from '../../core/order.ts';
import { FINAL_STATUSES, OPEN_STATUSES, OUTCOMES } from '../../core/outcome.ts';
import { MAX_PATTERN_LENGTH } from '../../operator/exclude-orders.ts';

const time = z.iso.datetime();
const count = z.int().min(0);
const counts = z.record(z.string(), count);

export const CrawlId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/)
  .openapi({ example: 'example' });

export const CrawlSchema = z
  .object({
    id: CrawlId,
    status: z.enum(['Running', 'Paused', 'Cancelling', 'Completed', 'Cancelled', 'Failed']),
    reason: z.string().nullable().openapi({ description: 'Why it ended, if that is not obvious.' }),
    createdAt: time,
    finishedAt: time.nullable(),
    found: count.openapi({ description: 'The sum of `pages`, and of `done` and `open`.' }),
    done: count,
    open: count,
    pages: counts.openapi({ description: 'Pages by status.' }),
    pagesPerSecond: z.number().nullable(),
    secondsLeft: z.number().nullable(),
    heldBackBy: z.string().nullable().openapi({ description: 'One sentence. null: it has ended.' }),
  })
  .openapi('Crawl');

export const CrawlDetailsSchema = CrawlSchema.extend({
  seeds: z.array(z.string()),
  settings: z.record(z.string(), z.unknown()).openapi({ description: 'The settings it was started with.' }),
  sitemaps: counts,
  attempts: counts.openapi({ description: 'Attempts by outcome.' }),
  skipped: counts.openapi({ description: 'Links that did not become pages, by reason.' }),
}).openapi('CrawlDetails');

/** Read later, with those of the installation; described by what they must be. */
const settings = Object.fromEntries(
  Object.entries(crawlShape).map(([key, { description }]) => [
    key,
    z
      .unknown()
      .optional()
      .openapi(description === undefined ? {} : { description }),
  ]),
);

export const NewCrawlSchema = z
  .strictObject({
    id: CrawlId.optional().openapi({ description: 'Its name; made from the first seed if it is missing.' }),
    seeds: z
      .array(z.union([z.string().min(1), z.looseObject({ url: z.string().min(1) })]))
      .min(1)
      .max(10_000),
    ...settings,
  })
  .openapi('NewCrawl', {
    description: 'Seeds, and any setting of a crawl as in docs/configuration.md.',
    example: { id: 'example', seeds: ['https://example.org/'], delay: '10s', maxPages: 500 },
  });

const origin = {
  reason: z.string().max(500).optional().openapi({ description: 'Why, for the record.' }),
  by: z.string().max(100).optional().openapi({ description: 'Who gives the order.' }),
};

export const OriginSchema = z.strictObject(origin).openapi('OrderOrigin');

export const DelaySchema = z
  .strictObject({
    ...origin,
    delay: z.string().openapi({ description: 'A time such as `30s`, a range such as `5s-15s`, or `none`.' }),
  })
  .openapi('DelayOrder');

export const RetrySchema = z
  .strictObject({
    ...origin,
    cause: z.string().optional().openapi({ description: 'Such as `timeout` or `status/503`.' }),
    domain: z.string().max(300).optional(),
  })
  .openapi('RetryOrder');

export const ExcludeSchema = z
  .strictObject({
    ...origin,
    pattern: z
      .string()
      .min(1)
      .max(MAX_PATTERN_LENGTH)
      .openapi({ description: 'Such as `/calendar/*` or `https://*.example.org/*`.' }),
    preview: z.boolean().optional().openapi({ description: 'Only count what would be rejected.' }),
  })
  .openapi('ExcludeOrder');

export const AttemptSchema = z
  .object({
    attempt: count,
    outcome: z.enum(OUTCOMES),
    statusCode: z.int().nullable(),
    errorKind: z.string().nullable(),
    error: z.string().nullable(),
    startedAt: time.nullable(),
    finishedAt: time,
    slotWaitMs: count,
    latencyMs: count.nullable(),
    bytes: count.nullable(),
    nextAttemptAt: time.nullable(),
  })
  .openapi('Attempt');

export const PAGE_STATUSES = [...OPEN_STATUSES, ...FINAL_STATUSES] as const;

export const PageSchema = z
  .object({
    crawl: CrawlId,
    url: z.string(),
    domain: z.string(),
    status: z.enum(PAGE_STATUSES),
    reason: z.string().nullable(),
    statusCode: z.int().nullable(),
    title: z.string().nullable(),
    depth: count,
    redirectTo: z.string().nullable(),
    nextAttemptAt: time.nullable(),
    fetchedAt: time.nullable(),
    attempts: z.array(AttemptSchema),
  })
  .openapi('Page');

export const PagesSchema = z
  .object({
    pages: z.array(PageSchema),
    next: z.string().nullable().openapi({
      description:
        'The value of `after` for the next part, even if this one has fewer pages than asked for. null: this is the last.',
    }),
  })
  .openapi('Pages');

export const DomainSchema = z
  .object({
    domain: z.string(),
    state: z.string(),
    gapMs: z.number().nullable(),
    gapReason: z.string().nullable(),
    delay: z.object({ minMs: z.number(), maxMs: z.number() }).nullable(),
    crawlDelayMs: z.number(),
    backoffMs: z.number(),
    blockedUntil: time.nullable(),
    paused: z.boolean(),
    outages: z.array(z.object({ origin: z.string(), since: time, until: time, error: z.string() })),
    reserved: count,
    waiting: count,
    nextSlotAt: time.nullable(),
    lastRequestAt: time.nullable(),
    requests: count,
    averageDurationMs: z.number().nullable(),
    live: z.boolean().openapi({ description: 'From its running throttle; false: as stored.' }),
  })
  .openapi('Domain');

export const OrderSchema = z
  .object({
    id: z.string(),
    givenAt: time,
    kind: z.enum(['pause', 'resume', 'delay', 'reset', 'cancel', 'retry', 'exclude', 'stop']),
    crawl: z.string().nullable(),
    domain: z.string().nullable(),
    channel: z.enum(ORDER_CHANNELS),
    by: z.string().nullable(),
    reason: z.string().nullable(),
    effect: z.string(),
  })
  .openapi('Order');

export const OrdersSchema = z
  .object({ orders: z.array(OrderSchema), next: z.string().nullable() })
  .openapi('Orders');

export const HealthSchema = z
  .object({
    ok: z.boolean(),
    postgres: z.boolean(),
    temporal: z.boolean(),
    worker: z.boolean().nullable().openapi({ description: 'Whether a worker is running. null: not known.' }),
    stopped: z
      .boolean()
      .nullable()
      .openapi({ description: 'Whether everything is stopped by an order. null: not known.' }),
    findings: z.array(
      z.object({
        level: z.enum(['bad', 'warn']).openapi({
          description: '`bad`: crawls stand still or will soon. `warn`: worth a look.',
        }),
        what: z.string(),
        cure: z.string(),
      }),
    ),
    version: z.string(),
  })
  .openapi('Health');
