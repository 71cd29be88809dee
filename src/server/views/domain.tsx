/** One domain: how it is treated and why, its last requests, its robots.txt, the proof. */
import { formatCount, formatDuration } from '../../core/format.ts';
import { productToken } from '../../http/index.ts';
import { confirmedOutages, describeGap, findDomainBlock, storedGap } from '../../operator/describe-domain.ts';
import { type DomainReport, parseDomain } from '../../operator/domains.ts';
import { type DomainDetail, readDomainDetail } from '../../reports/domain-detail.ts';
import { nextSlotAt } from '../../throttle/view.ts';
import { DomainActions } from '../html/actions.tsx';
import { GapChart } from '../html/charts.tsx';
import { Ago, Clock, Count, Countdown, FromWeb, Live } from '../html/parts.tsx';
import { readDomainNow } from '../live-answers.ts';
import { defineView } from '../view.ts';
import { Figure } from './crawl-status.tsx';
import { DomainBadge, isPaused } from './domain-badge.tsx';
import { PeriodForm, ProofFacts, periodOf, proofAddress, Violations } from './proof.tsx';
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
    const report = await readDomainNow(services, domain);
    const options = { period: periodOf(query, now), token: productToken(config.userAgent) };
    const { publicBotUrl } = config;
    return { report, publicBotUrl, ...(await readDomainDetail(db, domain, options)) };
  },
  render({ report, domain, requests, robots, proof, violations, publicBotUrl }, now) {
    return (
      <>
        <Live id="domain">
          <div class="head">
            <h1>{domain}</h1>
            <DomainBadge report={report} now={now} />
            <DomainActions domain={domain} isPaused={isPaused(report)} />
          </div>
          {report.known === null && (
            <p class="notice">No crawl has requested anything from it yet; orders hold for future crawls.</p>
          )}
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
          <Violations violations={violations} of={proof.violationCount} />
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
          <Figure name="Reserved + waiting">
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
      {confirmedOutages(known).map(({ origin, since, error }) => (
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
