/** Domains: how each is treated, across all crawls. */
import { formatCount, formatDuration } from '../../core/format.ts';
import { type DescribedGap, describeGapReason, storedGap } from '../../operator/describe-domain.ts';
import type { DomainReport } from '../../operator/domains.ts';
import { nextSlotAt } from '../../throttle/view.ts';
import { type DomainList, loadDomains } from '../domain-list.ts';
import { OrderForm } from '../html/orders.tsx';
import { Ago, Count, Countdown, Live, Table } from '../html/parts.tsx';
import { defineView } from '../view.ts';
import { DomainBadge, isPaused } from './domain-badge.tsx';

const MAX_DOMAINS = 100;

interface Domains extends DomainList {
  /** A part of their names. Empty: all. */
  find: string;
}

export const domainsView = defineView<Domains>({
  path: '/domains',
  nav: 'Domains',
  title: () => 'Domains',
  async load({ services, query }) {
    const find = query.get('find')?.trim().toLowerCase() ?? '';
    return { find, ...(await loadDomains(services, { limit: MAX_DOMAINS, find })) };
  },
  render({ domains, more, moreAtLeast, find }, now) {
    return (
      <>
        <div class="head">
          <h1>Domains</h1>
          <span class="lead">Paused, blocked and down ones first, then the most recent.</span>
          <form class="actions" action="/domains">
            <input
              name="find"
              type="search"
              value={find}
              placeholder="Part of a name"
              aria-label="Only domains with this in their name"
            />
            <button type="submit">Show</button>
          </form>
        </div>
        <Live id="domains">
          <Table
            caption="Domains"
            rows={domains}
            rowId={({ domain }) => `domain-${domain}`}
            empty={
              find === ''
                ? 'No domains yet; a crawl adds the domains it visits.'
                : `No domain has "${find}" in its name.`
            }
            columns={[
              {
                head: 'Domain',
                cell: ({ domain }) => <a href={`/domains/${encodeURIComponent(domain)}`}>{domain}</a>,
              },
              {
                head: 'State',
                cell: (report) => <DomainBadge report={report} now={now} />,
              },
              {
                head: 'Next slot',
                cell: ({ live }) => <NextSlot at={live && nextSlotAt(live, now)} now={now} />,
              },
              { head: 'Gap', numeric: true, cell: gapOf },
              { head: 'Reason', cell: reasonOf },
              {
                head: 'Reserved',
                numeric: true,
                cell: ({ live }) => live && <Count value={live.reserved} />,
              },
              { head: 'Waiting', numeric: true, cell: ({ live }) => live && <Count value={live.waiting} /> },
              {
                head: 'Response',
                numeric: true,
                cell: ({ live, known }) => {
                  const average = (live ?? known?.stored)?.stats.averageDurationMs ?? null;
                  return average === null ? '' : formatDuration(average);
                },
              },
              {
                head: 'Last request',
                cell: ({ known }) =>
                  known?.lastStart == null ? 'none' : <Ago at={new Date(known.lastStart)} now={now} />,
              },
              { head: 'Orders', cell: (report) => <Orders report={report} /> },
            ]}
          />
          {more > 0 && (
            <p class="muted">{`${moreAtLeast ? 'At least ' : ''}${formatCount(more)} more are not shown.`}</p>
          )}
        </Live>
      </>
    );
  },
});

function NextSlot({ at, now }: { at: number | null; now: Date }) {
  return at === null ? null : <Countdown at={new Date(at)} now={now} />;
}

/** As the throttle says, or as stored. */
function describedGap({ live, known }: DomainReport): DescribedGap | null {
  return live ?? (known && storedGap(known.stored));
}

function gapOf(report: DomainReport): string {
  const gapMs = describedGap(report)?.gapMs ?? 0;
  return gapMs === 0 ? '' : formatDuration(gapMs);
}

function reasonOf(report: DomainReport): string {
  const gap = describedGap(report);
  return gap === null ? '' : describeGapReason(gap);
}

function Orders({ report }: { report: DomainReport }) {
  const { domain } = report;
  const [kind, text] = isPaused(report) ? ['resume', 'Resume'] : ['pause', 'Pause'];
  return <OrderForm kind={kind} domain={domain} back="/domains" label={`${text} ${domain}`} text={text} />;
}
