/** Domains: how each is treated, across all crawls. */
import { formatCount, formatDuration } from '../../core/format.ts';
import { describeDomainState, describeGapReason } from '../../operator/describe-domain.ts';
import type { DomainReport } from '../../operator/domains.ts';
import { type DomainList, loadDomains } from '../domain-list.ts';
import { OrderForm } from '../html/orders.tsx';
import { Ago, Badge, Count, Countdown, Live, Table, type Tone } from '../html/parts.tsx';
import { defineView } from '../view.ts';

const MAX_DOMAINS = 100;

export const domainsView = defineView<DomainList>({
  path: '/domains',
  nav: 'Domains',
  title: () => 'Domains',
  load: ({ services }) => loadDomains(services, MAX_DOMAINS),
  render({ domains, more }, now) {
    return (
      <>
        <div class="head">
          <h1>Domains</h1>
          <span class="lead">Paused, blocked and unreachable ones first, then the most recent.</span>
        </div>
        <Live id="domains">
          <Table
            caption="Domains"
            rows={domains}
            empty="No domains yet; a crawl adds the domains it visits."
            columns={[
              {
                head: 'Domain',
                cell: ({ domain }) => <a href={`/domains/${encodeURIComponent(domain)}`}>{domain}</a>,
              },
              {
                head: 'State',
                cell: (report) => <Badge tone={toneOf(report)}>{describeDomainState(report, now)}</Badge>,
              },
              { head: 'Next slot', cell: ({ live }) => <NextSlot at={live?.nextSlotAt ?? null} now={now} /> },
              { head: 'Gap', numeric: true, cell: gapOf },
              { head: 'Because of', cell: ({ live }) => live && describeGapReason(live) },
              {
                head: 'Queue',
                numeric: true,
                cell: ({ live }) => live && <Count value={live.reserved + live.waiting} />,
              },
              {
                head: 'Average',
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

function gapOf({ live, known }: DomainReport): string {
  const gapMs = live?.gapMs ?? known?.stored.minGapMs ?? 0;
  return gapMs === 0 ? '' : formatDuration(gapMs);
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
