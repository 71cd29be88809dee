import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb } from '../support/web.ts';

const DELAY_MS = 100;

describe('a slow site', () => {
  let amble: Amble;
  beforeAll(async () => {
    amble = await startAmble();
  });
  afterAll(() => amble?.stop());

  /** The requests of a crawl of such a site, ordered by start. */
  async function requestsOf(durationMs: number, settings: Record<string, unknown>) {
    const pages = flatSite(6);
    const web = await startWeb({ slow: (path, visit) => ({ ...pages(path, visit), afterMs: durationMs }) });
    try {
      const seeds = Array.from({ length: 6 }, (_, n) => web.url('slow', `/${n + 1}`));
      const input = { ...web.network, delay: `${DELAY_MS}ms` };
      // robots.txt is read before anything is measured.
      await amble.crawl({ ...input, seeds: [web.url('slow', '/1')] });
      const { crawlId } = await amble.crawl({ ...input, seeds, ...settings });
      return await amble.db.request.findMany({ where: { crawlId }, orderBy: { startedAt: 'asc' } });
    } finally {
      await web.stop();
    }
  }

  it('has at most as many requests in flight as the crawl allows, and their starts keep the gap', async () => {
    const requests = await requestsOf(3_000, { concurrency: 3 });
    const open = requests.map(({ startedAt: at }) => {
      const isOpen = (other: (typeof requests)[number]) =>
        other.startedAt <= at && at.getTime() < other.startedAt.getTime() + other.durationMs;
      return requests.filter(isOpen).length;
    });
    expect(Math.max(...open)).toBe(3);
    requests.slice(1).forEach(({ startedAt }, i) => {
      const before = requests[i]?.startedAt.getTime() ?? 0;
      expect(startedAt.getTime() - before).toBeGreaterThanOrEqual(DELAY_MS);
    });
  });

  it('is requested at most once per average latency / target concurrency', async () => {
    const requests = await requestsOf(600, { concurrency: 3, targetConcurrency: 2 });
    expect(requests).toHaveLength(6);
    for (const { minGapMs } of requests) expect(minGapMs).toBeGreaterThanOrEqual(300);
  });
});
