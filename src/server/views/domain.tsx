/** One domain: how it is treated and why, its last requests, its robots.txt, the proof. */
import { formatCount, formatDuration } from '../../core/format.ts';
import { productToken } from '../../http/index.ts';
import {
  describeDomainState,
  describeGap,
  findDomainBlock,
  storedGap,
} from '../../operator/describe-domain.ts';
import { type DomainReport, parseDomain, readDomainReport } from '../../operator/domains.ts';
import { type DomainDetail, readDomainDetail } from '../../reports/domain-detail.ts';
import { nextSlotAt } from '../../throttle/view.ts';
import { DomainActions } from '../html/actions.tsx';
import { GapChart } from '../html/charts.tsx';
import { Ago, Badge, Clock, Count, Countdown, FromWeb, Live, type Tone } from '../html/parts.tsx';
import { askTemporal } from '../services.ts';
import { defineView } from '../view.ts';
import { Figure } from './crawl-status.tsx';
import { PeriodForm, ProofFacts, periodOf, proofAddress } from './proof.tsx';
import { Robots } from './robots.tsx';

interface DomainPage extends DomainDetail {
  report: DomainReport;
  /** Where others find the page for owners of sites. null: nowhere that is known. */
  publicBotUrl: string | null;
}

export const domainView = defineView<DomainPage>({
  path: '/domains/:domain',
  title: ({ domain }) => domain,
  async load({ services, params, query, now }) {
    const { db, config } = services;
    const domain = parseDomain(params.domain ?? '', config.politenessKey);
    const report =
      (await askTemporal(services, (client) => readDomainReport(db, client, domain))) ??
      (await readDomainReport(db, null, domain));
    if (report.known === null) return null;
    const options = { period: periodOf(query, now), token: productToken(config.userAgent) };
    const { publicBotUrl } = config;
    return { report, publicBotUrl, ...(await readDomainDetail(db, domain, options)) };
  },
  render({ report, domain, requests, robots, proof, publicBotUrl }, now) {
    return (
      <>
        <Live id="domain">
          <div class="head">
            <h1>{domain}</h1>
            <Badge tone={toneOf(report, now)}>{describeDomainState(report, now)}</Badge>
            <DomainActions
              domain={domain}
              isPaused={
                report.live === null ? report.known?.stored.paused === true : report.live.phase === 'paused'
              }
            />
          </div>
          <Facts report={report} now={now} />
        </Live>
        <h2>Gaps between requests</h2>
        <Live id="gaps">
          <Gaps requests={requests} now={now} />
        </Live>
        <h2>robots.txt</h2>
        <Live id="robots">
          {robots.length === 0 && <p class="empty">It has not been requested yet.</p>}
          {robots.map((one) => (
            <Robots robots={one} now={now} />
          ))}
        </Live>
        <h2>Proof</h2>
        <PeriodForm proof={proof} />
        <Live id="proof">
          <ProofFacts proof={proof} />
          <p>
            <a href={proofAddress(proof, publicBotUrl ?? '/bot')}>
              This proof as the owner of the site sees it
            </a>
            {publicBotUrl === null
              ? '; to have an address to send to them, set "publicUrl" (AMBLE_PUBLIC_URL).'
              : ': an address to send to them.'}
          </p>
        </Live>
      </>
    );
  },
});

function toneOf({ live, known }: DomainReport, now: Date): Tone {
  if (live === null) return known?.stored.paused ? 'warn' : 'quiet';
  if (live.phase === 'down') return 'bad';
  if (live.phase === 'paused' || live.phase === 'blocked') return 'warn';
  return (live.blockedUntil ?? 0) > now.getTime() ? 'warn' : 'good';
}

function Facts({ report, now }: { report: DomainReport; now: Date }) {
  const { live, known } = report;
  const stats = (live ?? known?.stored)?.stats;
  const block = findDomainBlock(report, '', now);
  const nextSlot = live && nextSlotAt(live, now);
  const gap = live ?? (known && storedGap(known.stored));
  return (
    <>
      {block !== null && (
        <p class="notice warn">
          This domain <FromWeb text={block.predicate} />
        </p>
      )}
      <dl class="figures">
        <Figure name="Gap">{gap ? describeGap(gap) : 'not known'}</Figure>
        {nextSlot !== null && (
          <Figure name="Next slot">
            <Countdown at={new Date(nextSlot)} now={now} />
          </Figure>
        )}
        {live !== null && (
          <Figure name="Leases + queued">
            {formatCount(live.reserved)} + {formatCount(live.waiting)}
          </Figure>
        )}
        {stats && (
          <Figure name="Requests">
            <Count value={stats.started} />
          </Figure>
        )}
        {stats?.averageDurationMs != null && (
          <Figure name="Average response">{formatDuration(stats.averageDurationMs)}</Figure>
        )}
        {known?.lastStart != null && (
          <Figure name="Last request">
            <Ago at={new Date(known.lastStart)} now={now} />
          </Figure>
        )}
      </dl>
      {Object.entries(known?.stored.outages ?? {}).map(([origin, { since, error }]) => (
        <p class="notice bad">
          <FromWeb text={origin} /> has been unreachable since <Clock at={new Date(since)} now={now} />:{' '}
          <FromWeb text={error} />
        </p>
      ))}
    </>
  );
}

function Gaps({ requests, now }: { requests: DomainDetail['requests']; now: Date }) {
  const [first, last] = [requests[0], requests.at(-1)];
  if (first === undefined || last === undefined) return <p class="empty">No request is on record.</p>;
  const short = requests.filter(({ gapMs, requiredMs }) => gapMs !== null && gapMs < requiredMs).length;
  const label = `The gaps before the last ${requests.length} requests; ${short === 0 ? 'none' : short} shorter than required.`;
  return (
    <figure class="picture">
      <GapChart requests={requests} label={label} />
      <figcaption>
        <span>
          <Clock at={first.startedAt} now={now} />
        </span>
        <span class="key done">gap before each of the last {requests.length} requests</span>
        <span class="key required">gap required then, {formatDuration(last.requiredMs)} for the last</span>
        <span>{short === 0 ? 'none is too short' : `${short} are too short`}</span>
        <span class="until">
          <Clock at={last.startedAt} now={now} />
        </span>
      </figcaption>
    </figure>
  );
}
