/** Orders on record, and the health of the installation. */
import { createRoute, z } from '@hono/zod-openapi';
import { packageVersion } from '../../core/package-root.ts';
import { parseDomain } from '../../operator/domains.ts';
import { hasWorker } from '../../operator/has-worker.ts';
import { listOrders } from '../../storage/orders.ts';
import type { Api } from '../env.ts';
import { readHealthNow } from '../health.ts';
import { ALL_ORDER_KINDS, orderAll, orderOrigin } from '../orders.ts';
import { nextOrders, ORDERS_CURSOR, parseOrdersCursor } from '../orders-cursor.ts';
import { askTemporal, type Services } from '../services.ts';
import { toOrder } from './convert.ts';
import { problems } from './problem.ts';
import { CrawlId, HealthSchema, OrdersSchema, OriginSchema } from './schemas.ts';

const MAX_ORDERS = 500;

const orders = createRoute({
  method: 'get',
  path: '/orders',
  operationId: 'listOrders',
  tags: ['orders'],
  summary: 'List the orders of operators, the latest first',
  request: {
    query: z.object({
      crawl: CrawlId.optional(),
      domain: z.string().max(300).optional(),
      limit: z.coerce.number().int().min(1).max(MAX_ORDERS).default(100),
      after: z
        .string()
        .regex(ORDERS_CURSOR)
        .optional()
        .openapi({ description: '`next` of the part before.' }),
    }),
  },
  responses: {
    200: { description: 'Orders', content: { 'application/json': { schema: OrdersSchema } } },
    ...problems(400, 503),
  },
});

function allRoute(kind: (typeof ALL_ORDER_KINDS)[number]) {
  return createRoute({
    method: 'post',
    path: `/${kind}`,
    operationId: kind === 'stop-all' ? 'stopAll' : 'resumeAll',
    tags: ['orders'],
    summary:
      kind === 'stop-all' ? 'Stop all crawls and domains' : 'Lift the stop; what ran before runs again',
    request: { body: { content: { 'application/json': { schema: OriginSchema } } } },
    responses: { 204: { description: 'Done' }, ...problems(400, 409, 413, 415, 503) },
  });
}

const health = createRoute({
  method: 'get',
  path: '/health',
  operationId: 'readHealth',
  tags: ['health'],
  summary: 'Whether everything that crawls need is running, and what is wrong',
  responses: {
    200: { description: 'All is well', content: { 'application/json': { schema: HealthSchema } } },
    ...problems(),
    503: { description: 'Something is wrong', content: { 'application/json': { schema: HealthSchema } } },
  },
});

export function addRecordRoutes(api: Api, services: Services): void {
  const { db, config } = services;
  api.openapi(orders, async (c) => {
    const { crawl, domain, limit, after } = c.req.valid('query');
    const filter = {
      ...(crawl !== undefined && { crawlId: crawl }),
      ...(domain !== undefined && { domain: parseDomain(domain, config.politenessKey) }),
      ...(after !== undefined && { before: parseOrdersCursor(after) }),
    };
    const found = await listOrders(db, filter, limit);
    return c.json({ orders: found.map(toOrder), next: nextOrders(found, limit) }, 200);
  });
  for (const kind of ALL_ORDER_KINDS)
    api.openapi(allRoute(kind), async (c) => {
      await orderAll(services, kind, orderOrigin('api', c.req.valid('json')));
      return c.body(null, 204);
    });
  api.openapi(health, async (c) => {
    const [{ postgresError, temporalError, stop, findings }, worker] = await Promise.all([
      readHealthNow(services, new Date()),
      askTemporal(services, (client) => hasWorker(client, config)),
    ]);
    const postgres = postgresError === null;
    const temporal = temporalError === null && worker !== null;
    const ok = postgres && worker === true && findings.every(({ level }) => level !== 'bad');
    const stopped = postgres ? stop !== null : null;
    const body = { ok, postgres, temporal, worker, stopped, findings, version: packageVersion };
    return c.json(body, ok ? 200 : 503);
  });
}
