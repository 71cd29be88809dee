/** Now: every crawl, how far it is, and what holds it back. */
import { formatDuration } from '../../core/format.ts';
import { CrawlActions } from '../html/actions.tsx';
import { OrderForm } from '../html/orders.tsx';
import { Ago, Badge, Count, CrawlLink, FromWeb, Live, Share, Table } from '../html/parts.tsx';
import { Sparkline } from '../html/sparkline.tsx';
import { type CrawlList, loadOverview, type NowCrawl } from '../overview.ts';
import { defineView } from '../view.ts';
import { CRAWL_TONES, describeLeft, Figure, SumFigures } from './crawl-status.tsx';

interface Now extends CrawlList {
  at: Date;
  /** `next` of the part of the list before this one. null: this is the first. */
  after: string | null;
}

const MAX_CRAWLS = 50;

export const nowView = defineView<Now>({
  path: '/now',
  nav: 'Now',
  title: () => 'Now',
  async load({ services, query, now }) {
    const after = query.get('after');
    return { at: now, after, ...(await loadOverview(services, MAX_CRAWLS, after)) };
  },
  render({ crawls, after, next }, now) {
    const open = crawls.filter(({ finishedAt }) => finishedAt === null);
    const ended = crawls.filter(({ finishedAt }) => finishedAt !== null);
    return (
      <>
        <div class="head">
          <h1>Now</h1>
          <details class="confirm" id="stop">
            <summary class="button">Stop everything</summary>
            <OrderForm
              kind="stop-all"
              back="/now"
              label="Stop all crawls and domains"
              text="Stop all crawls and domains"
              danger
              askReason
            />
          </details>
        </div>
        <Live id="running">
          {open.length === 0 && after === null && <p class="empty">No crawl is running.</p>}
          {open.map((crawl) => (
            <OpenCrawl crawl={crawl} now={now} />
          ))}
        </Live>
        {ended.length > 0 && <h2>Ended</h2>}
        <Live id="ended">
          {ended.length > 0 && (
            <Table
              caption="Crawls that have ended"
              rows={ended}
              rowId={({ id }) => `crawl-${id}`}
              empty=""
              columns={[
                { head: 'Crawl', cell: ({ id }) => <CrawlLink id={id} /> },
                { head: 'Status', cell: ({ status }) => <Badge tone={CRAWL_TONES[status]}>{status}</Badge> },
                { head: 'Found', numeric: true, cell: ({ found }) => <Count value={found} /> },
                {
                  head: '= fetched',
                  numeric: true,
                  cell: ({ pages }) => <Count value={pages.Fetched ?? 0} />,
                },
                { head: '+ failed', numeric: true, cell: ({ pages }) => <Count value={pages.Failed ?? 0} /> },
                {
                  head: '+ others',
                  numeric: true,
                  cell: ({ found, pages: { Fetched = 0, Failed = 0 } }) => (
                    <Count value={found - Fetched - Failed} />
                  ),
                },
                {
                  head: 'Took',
                  numeric: true,
                  cell: ({ createdAt, finishedAt }) =>
                    formatDuration((finishedAt ?? now).getTime() - createdAt.getTime()),
                },
                {
                  head: 'Ended',
                  cell: ({ finishedAt }) => finishedAt && <Ago at={finishedAt} now={now} />,
                },
                { head: 'Reason', cell: ({ reason }) => reason && <FromWeb text={reason} /> },
              ]}
            />
          )}
        </Live>
        <Live id="more">
          {next !== null && <a href={`/now?${new URLSearchParams({ after: next })}`}>More crawls</a>}
        </Live>
      </>
    );
  },
});

function OpenCrawl({ crawl, now }: { crawl: NowCrawl; now: Date }) {
  const { id, status, found, done, open, pagesPerSecond, createdAt } = crawl;
  return (
    <article class="card" id={`crawl-${id}`}>
      <div class="head">
        <h2>
          <CrawlLink id={id} />
        </h2>
        <Badge tone={CRAWL_TONES[status]}>{status}</Badge>
        <small>
          started <Ago at={createdAt} now={now} />
        </small>
        <CrawlActions id={id} status={status} back="/now" />
      </div>
      <Share part={done} of={found} label={`${done} of ${found} pages are done`} />
      <dl class="figures">
        <SumFigures found={found} done={done} open={open} />
        <Figure name="Rate">
          {pagesPerSecond === null ? '–' : formatRate(pagesPerSecond)} <Sparkline samples={crawl.samples} />
        </Figure>
        <Figure name="Left">{describeLeft(crawl)}</Figure>
      </dl>
      {crawl.heldBackBy !== null && (
        <p class="held">
          <FromWeb text={crawl.heldBackBy} />
        </p>
      )}
    </article>
  );
}

/** Per minute if it is slow: a polite crawl is. */
function formatRate(pagesPerSecond: number): string {
  if (pagesPerSecond === 0) return '0 pages/s';
  return pagesPerSecond >= 1
    ? `${pagesPerSecond.toFixed(1)} pages/s`
    : `${(60 * pagesPerSecond).toFixed(1)} pages/min`;
}
