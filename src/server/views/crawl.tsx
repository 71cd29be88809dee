/** A crawl: how it grew, when it can end, what went wrong and what it left out. */
import { formatCount, formatDuration } from '../../core/format.ts';
import { type FullCrawlReport, readCrawlReport } from '../../reports/crawl-report.ts';
import { listOrders, type RecordedOrder } from '../../storage/orders.ts';
import { CrawlActions } from '../html/actions.tsx';
import { GrowthChart, growthChartEnd } from '../html/charts.tsx';
import { Ago, Badge, Clock, Count, crawlAddress, FromWeb, Live, Share, Table } from '../html/parts.tsx';
import { loadCrawlOverview, type NowCrawl } from '../overview.ts';
import { defineView } from '../view.ts';
import { CauseTable } from './crawl-causes.tsx';
import { LedgerTable } from './crawl-ledger.tsx';
import { LastOrders, MAX_RECENT_ORDERS } from './crawl-orders.tsx';
import { RemainingTable } from './crawl-remaining.tsx';
import { SettingsFacts } from './crawl-settings.tsx';
import {
  CRAWL_TONES,
  describeLeft,
  describeTime,
  Figure,
  MAX_SHOWN_MS,
  SumFigures,
} from './crawl-status.tsx';

type CrawlPage = FullCrawlReport &
  Pick<NowCrawl, 'heldBackBy' | 'secondsLeft' | 'isGrowing'> & {
    /** The latest first. */
    orders: RecordedOrder[];
  };

export const crawlView = defineView<CrawlPage>({
  path: '/crawls/:crawl',
  title: ({ progress }) => progress.crawl,
  async load({ services, params: { crawl = '' }, now }) {
    const [report, overview, orders] = await Promise.all([
      readCrawlReport(services.db, crawl, now),
      loadCrawlOverview(services, crawl),
      listOrders(services.db, { crawlId: crawl }, MAX_RECENT_ORDERS),
    ]);
    if (report === null || overview === null) return null;
    const { heldBackBy, secondsLeft, isGrowing } = overview;
    return { ...report, heldBackBy, secondsLeft, isGrowing, orders };
  },
  render(report, now) {
    const { progress, createdAt, finishedAt, done, open } = report;
    return (
      <>
        <Live id="crawl">
          <div class="head">
            <h1>{progress.crawl}</h1>
            <Badge tone={CRAWL_TONES[progress.status]}>{progress.status}</Badge>
            <small>
              started <Ago at={createdAt} now={now} />
              {finishedAt !== null && (
                <>
                  , ended <Ago at={finishedAt} now={now} />
                </>
              )}
            </small>
            <CrawlActions id={progress.crawl} status={progress.status} back={crawlAddress(progress.crawl)} />
          </div>
          {progress.reason !== null && (
            <p>
              <FromWeb text={progress.reason} />
            </p>
          )}
          <Share part={done} of={progress.found} label={`${done} of ${progress.found} pages are done`} />
          <dl class="figures">
            <SumFigures found={progress.found} done={done} open={open} />
            <Figure name="Time">{formatDuration(progress.seconds * 1_000)}</Figure>
            {finishedAt === null && <Figure name="Left">{describeLeft(report)}</Figure>}
            {report.end?.remainingMs != null && (
              <Figure name="Minimum time">{describeTime(report.end.remainingMs)}</Figure>
            )}
          </dl>
          {report.heldBackBy !== null && (
            <p class="held">
              <FromWeb text={report.heldBackBy} />
            </p>
          )}
          <LastOrders orders={report.orders} now={now} />
          <Growth report={report} now={now} />
          <h2>Pages and attempts</h2>
          <Outcomes report={report} />
          {report.end !== null && open > 0 && <RemainingTable end={report.end} now={now} />}
          <h2>Causes of failure</h2>
          <CauseTable crawl={progress.crawl} causes={report.causes} now={now} />
          <h2>Links and pages by result</h2>
          <LedgerTable report={report} />
        </Live>
        <h2>Settings</h2>
        <SettingsFacts report={report} />
      </>
    );
  },
});

function Growth({ report, now }: { report: CrawlPage; now: Date }) {
  const { samples, projection, done, progress, createdAt, secondsLeft } = report;
  const endsInMs =
    projection === null || secondsLeft === null ? Number.POSITIVE_INFINITY : 1_000 * secondsLeft;
  const endsAt = endsInMs > MAX_SHOWN_MS ? null : new Date(now.getTime() + endsInMs);
  const [first, last] = [samples[0], samples.at(-1)];
  const label = `${formatCount(progress.found)} pages found and ${formatCount(done)} done in ${formatDuration(progress.seconds * 1_000)}.`;
  return (
    <figure class="growth">
      <GrowthChart samples={samples} endsAt={endsAt} label={label} />
      <figcaption>
        <span class="from">
          <Clock at={createdAt} now={now} />
        </span>
        <span class="key found">found {formatCount(progress.found)}</span>
        <span class="key done">done {formatCount(done)}</span>
        {endsAt !== null && (
          <span class="key projected">
            projected end <Clock at={endsAt} now={now} />
          </span>
        )}
        <span class="until">
          {first && last && <Clock at={growthChartEnd(first.at, last.at, endsAt)} now={now} />}
        </span>
      </figcaption>
      {projection?.isGrowing && (
        <p class="notice warn">
          The frontier grows faster than it is worked off: {formatRate(projection.foundRate)} found,{' '}
          {formatRate(projection.doneRate)} done.
        </p>
      )}
    </figure>
  );
}

function formatRate(perSecond: number): string {
  return perSecond >= 1 ? `${perSecond.toFixed(1)} pages/s` : `${(60 * perSecond).toFixed(1)} pages/min`;
}

function Outcomes({ report: { progress, open } }: { report: FullCrawlReport }) {
  const { pages, attempts } = progress;
  const rows = [
    {
      group: 'Open',
      parts: [
        ['pending', pages.Pending],
        ['in progress', pages.Queued],
        ['waiting', pages.Waiting],
      ],
      total: open,
    },
    {
      group: 'Done',
      parts: [
        ['fetched', pages.Fetched],
        ['redirected', pages.Redirected],
        ['rejected', pages.Rejected],
        ['blocked by robots.txt', pages.Blocked],
        ['failed', pages.Failed],
        ['cancelled', pages.Cancelled],
      ],
      total: progress.found - open,
    },
    {
      group: 'Attempts',
      parts: Object.entries(attempts),
      total: Object.values(attempts).reduce((sum, count) => sum + count, 0),
    },
  ] satisfies { group: string; parts: [string, number][]; total: number }[];
  return (
    <Table
      caption="Pages by status, and attempts by outcome"
      rows={rows}
      empty=""
      columns={[
        { head: '', cell: ({ group }) => group },
        { head: 'Total', numeric: true, cell: ({ total }) => <Count value={total} /> },
        {
          head: 'Of these',
          cell: ({ parts }) =>
            parts
              .filter(([, count]) => count > 0)
              .map(([name, count]) => `${formatCount(count)} ${name}`)
              .join(' + ') || 'none',
        },
      ]}
    />
  );
}
