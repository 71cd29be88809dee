/** Domains: how each is treated, across all crawls. */
import { formatCount, formatDuration } from '../../core/format.ts';
import {
  type DescribedGap,
  describeDomainState,
  describeGapReason,
  storedGap,
} from '../../operator/describe-domain.ts';
import type { DomainReport } from '../../operator/domains.ts';
import { nextSlotAt } from '../../throttle/view.ts';
import { type DomainList, loadDomains } from '../domain-list.ts';
import { OrderForm } from '../html/orders.tsx';
import { Ago, Badge, Count, Countdown, Live, Table, type Tone } from '../html/parts.tsx';
import { defineView } from '../view.ts';

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
  render({ domains, more, find }, now) {
    return (
      <>
        <div class="head">
          <h1>Domains</h1>
          <span class="lead">Paused, blocked and unreachable ones first, then the most recent.</span>
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
                cell: (report) => <Badge tone={toneOf(report)}>{describeDomainState(report, now)}</Badge>,
              },
              {
                head: 'Next slot',
                cell: ({ live }) => <NextSlot at={live && nextSlotAt(live, now)} now={now} />,
              },
              { head: 'Gap', numeric: true, cell: gapOf },
              { head: 'Reason', cell: reasonOf },
              { head: 'Leases', numeric: true, cell: ({ live }) => live && <Count value={live.reserved} /> },
              { head: 'Queued', numeric: true, cell: ({ live }) => live && <Count value={live.waiting} /> },
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
          {more > 0 && <p class="muted">{`${formatCount(more)} more are not shown.`}</p>}
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

function toneOf({ live, known }: DomainReport): Tone {
  const phase = live?.phase ?? (known?.stored.paused ? 'paused' : 'idle');
  if (phase === 'paused' || phase === 'blocked') return 'warn';
  if (phase === 'down' || Object.keys(known?.stored.outages ?? {}).length > 0) return 'bad';
  return phase === 'open' ? 'good' : 'quiet';
}

function Orders({ report: { domain, live, known } }: { report: DomainReport }) {
  const isPaused = live === null ? known?.stored.paused : live.phase === 'paused';
  const kind = isPaused ? 'resume' : 'pause';
  const text = isPaused ? 'Resume' : 'Pause';
  return <OrderForm kind={kind} domain={domain} back="/domains" label={`${text} ${domain}`} text={text} />;
}
