/** Domains: list, inspect, pause, resume, delay, reset. */
import { createRoute, z } from '@hono/zod-openapi';
import { parseDomain, readDomainReport } from '../../operator/domains.ts';
import { listDomainsByName } from '../../storage/domains.ts';
import { withThrottles } from '../domain-list.ts';
import type { Api } from '../env.ts';
import { DOMAIN_ORDER_KINDS, type DomainOrderKind, orderDomain, orderOrigin } from '../orders.ts';
import { askTemporal, type Services } from '../services.ts';
import { toDomain } from './convert.ts';
import { NotFound, problems } from './problem.ts';
import { DelaySchema, DomainSchema, OriginSchema } from './schemas.ts';

const MAX_DOMAINS = 1_000;

const params = z.object({ domain: z.string().min(1).max(300).openapi({ example: 'example.org' }) });
const json = <S extends z.ZodType>(schema: S) => ({ content: { 'application/json': { schema } } });
const one = { 200: { description: 'The domain', ...json(DomainSchema) } };

const list = createRoute({
  method: 'get',
  path: '/domains',
  operationId: 'listDomains',
  tags: ['domains'],
  summary: 'List the domains by name',
  request: {
    query: z.object({
      limit: z.coerce.number().int().min(1).max(MAX_DOMAINS).default(100),
      find: z.string().max(300).default('').openapi({ description: 'A part of their names.' }),
      after: z.string().max(300).default('').openapi({ description: '`next` of the part before.' }),
    }),
  },
  responses: {
    200: {
      description: 'The domains',
      ...json(z.object({ domains: z.array(DomainSchema), next: z.string().nullable() })),
    },
    ...problems(400, 503),
  },
});

const inspect = createRoute({
  method: 'get',
  path: '/domains/{domain}',
  operationId: 'inspectDomain',
  tags: ['domains'],
  summary: 'Show a domain',
  request: { params },
  responses: { ...one, ...problems(400, 404, 503) },
});

function orderRoute(kind: DomainOrderKind) {
  return createRoute({
    method: 'post',
    path: `/domains/{domain}/${kind}`,
    operationId: `${kind}Domain`,
    tags: ['domains'],
    summary: {
      pause: 'Send no more requests to a domain',
      resume: 'Resume a paused domain',
      delay: 'Set the shortest gap between requests to a domain',
      reset: 'Forget what was set for a domain or learned about it',
    }[kind],
    request: {
      params,
      body: kind === 'delay' ? { required: true, ...json(DelaySchema) } : json(OriginSchema),
    },
    responses: { ...one, ...problems(400, 413, 415, 503) },
  });
}

const OrderBody = DelaySchema.partial();

export function addDomainRoutes(api: Api, services: Services): void {
  const report = async (domain: string) => {
    const read = await askTemporal(services, (client) => readDomainReport(services.db, client, domain));
    return read ?? readDomainReport(services.db, null, domain);
  };
  api.openapi(list, async (c) => {
    const query = c.req.valid('query');
    const known = await listDomainsByName(services.db, query);
    const domains = await withThrottles(services, known);
    const now = new Date();
    const next = known.length < query.limit ? null : (known.at(-1)?.name ?? null);
    return c.json({ domains: domains.map((domain) => toDomain(domain, now)), next }, 200);
  });
  api.openapi(inspect, async (c) => {
    const domain = parseDomain(c.req.valid('param').domain, services.config.politenessKey);
    const found = await report(domain);
    if (found.known === null) throw new NotFound(`No crawl has requested anything from ${domain} yet.`);
    return c.json(toDomain(found, new Date()), 200);
  });
  for (const kind of DOMAIN_ORDER_KINDS)
    api.openapi(orderRoute(kind), async (c) => {
      const { delay, ...origin } = OrderBody.parse(c.req.valid('json'));
      const order = { kind, delay };
      const domain = await orderDomain(
        services,
        c.req.valid('param').domain,
        order,
        orderOrigin('api', origin),
      );
      return c.json(toDomain(await report(domain), new Date()), 200);
    });
}
