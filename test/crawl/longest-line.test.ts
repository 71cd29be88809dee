/** That fetches ask for room by the line behind them: what Digestion makes of it is in test/digestion.test.ts. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Digestion, type Line } from '../../src/worker/digestion.ts';
import { throttleId } from '../../workflows/ids.ts';
import { throttleQuery } from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { expectPolite } from '../support/polite.ts';
import { flatSite, startWeb } from '../support/web.ts';

const START_WINDOW_MS = 1_000;

const asked: Line[] = [];
/** How long the next fetch has to wait. */
let waitMs = 0;

class Watched extends Digestion {
  override async roomFor(line: Line, signal: AbortSignal): Promise<void> {
    asked.push(line);
    const ms = waitMs;
    waitMs = 0;
    await delay(ms);
    await super.roomFor(line, signal);
  }
}

let amble: Amble;
beforeAll(async () => {
  const window = `${START_WINDOW_MS}ms`;
  amble = await startAmble(
    { throttle: { startWindow: window, maxStartWindow: window } },
    undefined,
    undefined,
    (own) => ({ ...own, digestion: new Watched(100) }),
  );
});
afterAll(() => amble?.stop());
afterEach(() => expectPolite(amble.db));

it('a fetch asks for room with as many pages as wait for its domain', async () => {
  const web = await startWeb({ long: flatSite(9), short: flatSite(0) });
  try {
    const seeds = [web.url('long'), web.url('short')];
    const { pages } = await amble.crawl({ seeds, ...web.network, window: 1 });
    expect(pages).toEqual({ Fetched: 11 });
    const lengthsOf = (host: string) =>
      asked.filter(({ domain }) => domain === web.name(host)).map(({ length }) => length);
    expect(lengthsOf('short')).toEqual([0]);
    // The front page knew of nobody; of the nine it found, each has those behind it.
    expect(lengthsOf('long')).toEqual([0, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  } finally {
    await web.stop();
  }
});

it('a lease that ran out while its fetch had to wait for room goes back before its site is bothered', async () => {
  const closing = { headers: { connection: 'close' } };
  const web = await startWeb({
    site: (path) => (path === '/' ? { body: 'a page' } : { status: 404, ...closing }),
  });
  try {
    waitMs = 2 * START_WINDOW_MS;
    const { pages } = await amble.crawl({ seeds: [web.url('site')], ...web.network });
    expect(pages).toEqual({ Fetched: 1 });
    const { stats } = await amble.client.workflow
      .getHandle(throttleId(web.name('site')))
      .query(throttleQuery);
    expect(stats).toMatchObject({ started: 2, unused: 1 });
  } finally {
    await web.stop();
  }
});
