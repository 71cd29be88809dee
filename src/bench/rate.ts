/** What a page costs at best: a crawl without a delay, beside workflows that only run one activity. */
import { bareRate } from './bare.ts';
import { countEvents } from './count-events.ts';
import { inLab, say } from './lab.ts';

const HOSTS = 20;
const PAGES_A_HOST = 40;
const WARM_UP_PAGES_A_HOST = 10;
const BARE_WORKFLOWS = 800;

export async function rate(): Promise<void> {
  await inLab(async ({ address, client, db, crawl }) => {
    say(`Running ${BARE_WORKFLOWS} workflows of one activity ...`);
    const bare = await bareRate(client, address, BARE_WORKFLOWS);
    const hostsOf = (pages: number): number[] => Array.from({ length: HOSTS }, () => pages);
    // As the bare workflows had theirs: code that has just been loaded says nothing about the hours that follow.
    await crawl('warm-up', hostsOf(WARM_UP_PAGES_A_HOST), { delay: '0ms' });
    say(`Crawling ${HOSTS} hosts of ${PAGES_A_HOST} pages without a delay ...`);
    const crawlId = 'bench';
    const { seconds } = await crawl(crawlId, hostsOf(PAGES_A_HOST), { delay: '0ms' });
    const pages = await db.page.count({ where: { crawlId, status: 'Fetched' } });
    const events = await countEvents(client, db, crawlId);
    const pagesPerSecond = pages / seconds;
    console.log(`bare workflows/s       ${bare.toFixed(1)}`);
    console.log(
      `pages/s                ${pagesPerSecond.toFixed(1)}  (${pages} pages in ${seconds.toFixed(1)} s)`,
    );
    console.log(`pages/s : bare         ${(pagesPerSecond / bare).toFixed(2)}  (wanted: at least 0.55)`);
    console.log(
      `events a page          ${events.perPage.toFixed(1)}, at most ${events.mostPerPage}  (wanted: at most 36)`,
    );
    console.log(`throttle events a page ${events.throttlePerPage.toFixed(1)}  (wanted: at most 12)`);
  });
}
