/** Where the forms of the dashboard lead: gives the order, then shows the page again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hono } from 'hono';
import { z } from 'zod';
import { isCrawlId } from '../../workflows/ids.ts';
import { BadInput } from '../core/errors.ts';
import { findCrawl } from '../storage/crawls.ts';
import type { Env } from './env.ts';
import {
  ALL_ORDER_KINDS,
  CRAWL_ORDER_KINDS,
  DOMAIN_ORDER_KINDS,
  orderAll,
  orderCrawl,
  orderDomain,
  orderExclude,
  orderOrigin,
  orderRetry,
  startCrawl,
} from './orders.ts';
import { ownPath } from './own-path.ts';
import type { Services } from './services.ts';
import { toNewCrawl } from './start-form.ts';

const fields = { reason: z.string().optional(), back: z.string().optional() };

const crawl = z.string().refine(isCrawlId);

const OrderFields = z.union([
  z.object({ ...fields, kind: z.enum(ALL_ORDER_KINDS) }),
  z.object({ ...fields, kind: z.enum(CRAWL_ORDER_KINDS), crawl }),
  z.object({ ...fields, kind: z.literal('retry'), crawl, cause: z.string(), domain: z.string() }),
  z.object({ ...fields, kind: z.literal('exclude'), crawl, pattern: z.string() }),
  z.object({
    ...fields,
    kind: z.enum(DOMAIN_ORDER_KINDS),
    domain: z.string(),
    delay: z.string().optional(),
  }),
]);

export function acceptOrders(app: Hono<Env>, services: Services): void {
  app.post('/orders', async (c) => {
    const parsed = OrderFields.safeParse(await c.req.parseBody());
    if (!parsed.success) throw new BadInput('Unknown form.');
    return c.redirect(
      ownPath(await giveOrder(services, parsed.data, c.get('operator') ?? null)) ?? '/now',
      303,
    );
  });
  app.post('/start', async (c) => {
    const fields = await c.req.parseBody();
    try {
      const crawl = await startCrawl(services, toNewCrawl(fields));
      return c.redirect((await isOpenSoon(services, crawl)) ? `/crawls/${crawl}` : '/now', 303);
    } catch (error) {
      // The form itself says what is wrong, and keeps what was typed.
      const typed = Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]);
      const form = `/start?${new URLSearchParams(typed)}`;
      if (error instanceof BadInput && form.length < MAX_FORM_ADDRESS) return c.redirect(form, 303);
      throw error;
    }
  });
}

/** Many seeds are too long for an address: see guards.ts. */
const MAX_FORM_ADDRESS = 7_000;

/** A worker opens the crawl, usually within a second. Without one there is nothing to show of it yet. */
const MAX_OPENING_MS = 5_000;
const POLL_INTERVAL_MS = 100;

async function isOpenSoon({ db }: Services, crawlId: string): Promise<boolean> {
  for (const until = Date.now() + MAX_OPENING_MS; Date.now() < until; await sleep(POLL_INTERVAL_MS))
    if ((await findCrawl(db, crawlId)) !== null) return true;
  return false;
}

/** Returns where to go next. */
async function giveOrder(
  services: Services,
  order: z.output<typeof OrderFields>,
  by: string | null,
): Promise<string | undefined> {
  const origin = orderOrigin('dashboard', { by, reason: order.reason });
  switch (order.kind) {
    case 'retry': {
      const { id } = await orderRetry(services, order.crawl, order, origin);
      return `/crawls/${encodeURIComponent(order.crawl)}/retry?order=${id}`;
    }
    case 'stop-all':
    case 'resume-all':
      await orderAll(services, order.kind, origin);
      break;
    case 'exclude':
      await orderExclude(services, order.crawl, order.pattern, origin);
      break;
    default:
      if ('crawl' in order) await orderCrawl(services, order.crawl, order.kind, origin);
      else await orderDomain(services, order.domain, order, origin);
  }
  return order.back;
}
