/** Pages with their attempts: of a crawl, a part at a time, or one by its URL. */
import { createRoute, z } from '@hono/zod-openapi';
import { parseDomain } from '../../operator/domains.ts';
import { UnknownCrawl } from '../../operator/errors.ts';
import { findCrawl } from '../../storage/crawls.ts';
import { findListedPage, listPages } from '../../storage/reports/page-list.ts';
import type { Api } from '../env.ts';
import type { Services } from '../services.ts';
import { toPage } from './convert.ts';
import { NotFound, problems } from './problem.ts';
import { CrawlId, PAGE_STATUSES, PageSchema, PagesSchema } from './schemas.ts';

const MAX_PAGES = 500;

const list = createRoute({
  method: 'get',
  path: '/crawls/{crawl}/pages',
  operationId: 'listPages',
  tags: ['pages'],
  summary: 'List the pages of a crawl with every attempt',
  request: {
    params: z.object({ crawl: CrawlId }),
    query: z.object({
      status: z.enum(PAGE_STATUSES).optional(),
      domain: z.string().max(300).optional(),
      limit: z.coerce.number().int().min(1).max(MAX_PAGES).default(100),
      after: z
        .string()
        .regex(/^[\da-f]{64}$/)
        .optional()
        .openapi({ description: '`next` of the part before.' }),
    }),
  },
  responses: {
    200: { description: 'Pages', content: { 'application/json': { schema: PagesSchema } } },
    ...problems(400, 404, 503),
  },
});

const find = createRoute({
  method: 'get',
  path: '/pages',
  operationId: 'findPage',
  tags: ['pages'],
  summary: 'Find a page by its URL',
  request: {
    query: z.object({
      url: z.string().max(4_000).openapi({ example: 'https://example.org/about' }),
      crawl: CrawlId.optional().openapi({ description: 'The newest crawl that has it, if it is missing.' }),
    }),
  },
  responses: {
    200: { description: 'The page', content: { 'application/json': { schema: PageSchema } } },
    ...problems(400, 404, 503),
  },
});

export function addPageRoutes(api: Api, { db, config }: Services): void {
  api.openapi(list, async (c) => {
    const { crawl } = c.req.valid('param');
    const { limit, after, status, domain: typed } = c.req.valid('query');
    const domain = typed === undefined ? undefined : parseDomain(typed, config.politenessKey);
    if ((await findCrawl(db, crawl)) === null) throw new UnknownCrawl(crawl);
    const cursor = after === undefined ? undefined : new Uint8Array(Buffer.from(after, 'hex'));
    const { pages, next } = await listPages(db, crawl, { status, domain, after: cursor }, limit);
    return c.json(
      { pages: pages.map(toPage), next: next === null ? null : Buffer.from(next).toString('hex') },
      200,
    );
  });
  api.openapi(find, async (c) => {
    const { url, crawl } = c.req.valid('query');
    const page = await findListedPage(db, url, crawl);
    if (page === null) throw new NotFound('No crawl on record has found this URL.');
    return c.json(toPage(page), 200);
  });
}
