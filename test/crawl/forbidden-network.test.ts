import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb } from '../support/web.ts';

let amble: Amble;
beforeAll(async () => {
  amble = await startAmble();
});
afterAll(() => amble?.stop());

it('a page at a loopback address is rejected with the reason, and fetched when that network is allowed', async () => {
  const web = await startWeb({ site: flatSite(1) });
  try {
    const { resolve } = web.network;
    const refused = await amble.crawl({ seeds: [web.url('site')], resolve });
    expect(refused.pages).toEqual({ Rejected: 1 });
    const page = await amble.db.page.findFirstOrThrow({ where: { crawlId: refused.crawlId } });
    expect(page.reason).toMatch(/was not contacted: 127\.0\.0\.1 is .*--allow-network/);
    expect(web.arrivals).toEqual([]);

    const allowed = await amble.crawl({ seeds: [web.url('site')], ...web.network });
    expect(allowed.pages).toEqual({ Fetched: 2 });
  } finally {
    await web.stop();
  }
});
