/** Crawls: start, list, inspect, pause, resume, cancel. */
import { createRoute, z } from '@hono/zod-openapi';
import { UnknownCrawl } from '../../operator/errors.ts';
import { parsePattern } from '../../operator/exclude-orders.ts';
import { findCrawl } from '../../storage/crawls.ts';
import { previewExclude } from '../../storage/frontier/exclude.ts';
import { readProgress } from '../../storage/reports/progress.ts';
import { CRAWLS_CURSOR } from '../crawls-cursor.ts';
import type { Api } from '../env.ts';
import {
  CRAWL_ORDER_KINDS,
  orderCrawl,
  orderExclude,
  orderOrigin,
  orderRetry,
  startCrawl,
} from '../orders.ts';
import { loadCrawlOverview, loadOverview } from '../overview.ts';
import type { Services } from '../services.ts';
import { toCrawl } from './convert.ts';
import { problems } from './problem.ts';
import {
  CrawlDetailsSchema,
  CrawlId,
  CrawlSchema,
  ExcludeSchema,
  NewCrawlSchema,
  OriginSchema,
  RetrySchema,
} from './schemas.ts';

const MAX_CRAWLS = 200;

const params = z.object({ crawl: CrawlId });
const json = <S extends z.ZodType>(schema: S) => ({ content: { 'application/json': { schema } } });

const list = createRoute({
  method: 'get',
  path: '/crawls',
  operationId: 'listCrawls',
  tags: ['crawls'],
  summary: 'List the crawls, unfinished ones first',
  request: {
    query: z.object({
      limit: z.coerce.number().int().min(1).max(MAX_CRAWLS).default(50),
      after: z
        .string()
        .regex(CRAWLS_CURSOR)
        .optional()
        .openapi({ description: '`next` of the part before.' }),
    }),
  },
  responses: {
    200: {
      description: 'The crawls',
      ...json(z.object({ crawls: z.array(CrawlSchema), next: z.string().nullable() })),
    },
    ...problems(400, 503),
  },
});

const start = createRoute({
  method: 'post',
  path: '/crawls',
  operationId: 'startCrawl',
  tags: ['crawls'],
  summary: 'Start a crawl',
  request: { body: { required: true, ...json(NewCrawlSchema) } },
  responses: {
    201: {
      description: 'It has started',
      headers: z.object({ Location: z.string() }),
      ...json(z.object({ id: CrawlId })),
    },
    ...problems(400, 409, 413, 415, 503),
  },
});

const inspect = createRoute({
  method: 'get',
  path: '/crawls/{crawl}',
  operationId: 'inspectCrawl',
  tags: ['crawls'],
  summary: 'Show a crawl',
  request: { params },
  responses: { 200: { description: 'The crawl', ...json(CrawlDetailsSchema) }, ...problems(400, 404, 503) },
});

function orderRoute(kind: (typeof CRAWL_ORDER_KINDS)[number]) {
  return createRoute({
    method: 'post',
    path: `/crawls/{crawl}/${kind}`,
    operationId: `${kind}Crawl`,
    tags: ['crawls'],
    summary: `${kind.charAt(0).toUpperCase()}${kind.slice(1)} a crawl`,
    request: { params, body: json(OriginSchema) },
    responses: {
      200: { description: 'The crawl after the order', ...json(CrawlSchema) },
      ...problems(400, 404, 409, 413, 415, 503),
    },
  });
}

const retry = createRoute({
  method: 'post',
  path: '/crawls/{crawl}/retry',
  operationId: 'retryPages',
  tags: ['crawls'],
  summary: 'Try failed pages again, also of a crawl that has ended',
  request: { params, body: json(RetrySchema) },
  responses: {
    200: {
      description: 'The order, and the pages that are queued again',
      ...json(z.object({ order: z.string(), pages: z.int().min(0) })),
    },
    ...problems(400, 404, 409, 413, 415, 503),
  },
});

const exclude = createRoute({
  method: 'post',
  path: '/crawls/{crawl}/exclude',
  operationId: 'excludeUrls',
  tags: ['crawls'],
  summary: 'Exclude URLs from a crawl that runs',
  request: { params, body: { required: true, ...json(ExcludeSchema) } },
  responses: {
    200: {
      description: 'Pending pages that were rejected, or would be if this is a preview',
      ...json(
        z.object({
          rejected: z.int().min(0),
          pending: z.int().min(0).optional(),
          compared: z.int().min(0).optional().openapi({ description: 'Pending pages that were compared.' }),
          examples: z.array(z.string()).optional(),
        }),
      ),
    },
    ...problems(400, 404, 409, 413, 415, 503),
  },
});

export function addCrawlRoutes(api: Api, services: Services): void {
  api.openapi(list, async (c) => {
    const { limit, after = null } = c.req.valid('query');
    const { crawls, next } = await loadOverview(services, limit, after);
    return c.json({ crawls: crawls.map(toCrawl), next }, 200);
  });
  api.openapi(start, async (c) => {
    const id = await startCrawl(services, c.req.valid('json'));
    return c.json({ id }, 201, { Location: `/api/v1/crawls/${id}` });
  });
  api.openapi(inspect, async (c) => {
    const { crawl: id } = c.req.valid('param');
    const [overview, progress, record] = await Promise.all([
      loadCrawlOverview(services, id),
      readProgress(services.db, id),
      findCrawl(services.db, id),
    ]);
    if (overview === null || progress === null || record === null) throw new UnknownCrawl(id);
    const { sitemaps, attempts, skipped } = progress;
    const { seeds, settings } = record;
    return c.json(
      {
        ...toCrawl(overview),
        seeds,
        settings: { ...settings },
        sitemaps,
        attempts,
        skipped: definedOnly(skipped),
      },
      200,
    );
  });
  api.openapi(retry, async (c) => {
    const body = c.req.valid('json');
    const { id, pages } = await orderRetry(
      services,
      c.req.valid('param').crawl,
      body,
      orderOrigin('api', body),
    );
    return c.json({ order: id, pages }, 200);
  });
  api.openapi(exclude, async (c) => {
    const { crawl } = c.req.valid('param');
    const { pattern, preview, ...origin } = c.req.valid('json');
    if (preview) {
      if ((await findCrawl(services.db, crawl)) === null) throw new UnknownCrawl(crawl);
      const { matching, ...preview } = await previewExclude(services.db, crawl, parsePattern(pattern));
      return c.json({ rejected: matching, ...preview }, 200);
    }
    return c.json(
      { rejected: await orderExclude(services, crawl, pattern, orderOrigin('api', origin)) },
      200,
    );
  });
  for (const kind of CRAWL_ORDER_KINDS)
    api.openapi(orderRoute(kind), async (c) => {
      const { crawl: id } = c.req.valid('param');
      await orderCrawl(services, id, kind, orderOrigin('api', c.req.valid('json')));
      const overview = await loadCrawlOverview(services, id);
      if (overview === null) throw new UnknownCrawl(id);
      return c.json(toCrawl(overview), 200);
    });
}

function definedOnly(counts: Readonly<Record<string, number | undefined>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).flatMap(([key, count]) => (count ? [[key, count]] : [])));
}
