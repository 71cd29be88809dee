/** The proof of politeness of one domain, for operators and for the owner of the site. */
import { formatCount, formatPlural, formatSeconds } from '../../core/format.ts';
import type { ProofSummary } from '../../reports/domain-proof.ts';
import { describeViolation, type Violation } from '../../verify/index.ts';
import { FromWeb, Moment } from '../html/parts.tsx';

export const DEFAULT_DAYS = 7;
const DAY_MS = 86_400_000;

/** From the address of a page: `from` and `until` as times, or as days; the last day is included. Without them, the last week. */
export function periodOf(query: URLSearchParams, now: Date): { from: Date; until: Date } {
  const last = query.get('until') ?? '';
  const end = dateIn(/^\d{4}-\d\d-\d\d$/.test(last) ? `${last}T23:59:59.999Z` : last) ?? now;
  const until = end < now ? end : now;
  const from = dateIn(query.get('from')) ?? new Date(until.getTime() - DEFAULT_DAYS * DAY_MS);
  return from < until ? { from, until } : { from: new Date(until.getTime() - DAY_MS), until };
}

function dateIn(text: string | null): Date | null {
  const date = new Date(text ?? '');
  if (Number.isNaN(date.getTime())) return null;
  // Postgres knows no dates as early as JavaScript does, and there was no web before.
  return date.getTime() < 0 ? new Date(0) : date;
}

/** The same proof at any later time: the period is part of the address. */
export function proofAddress({ domain, period: { from, until } }: ProofSummary, botUrl: string): string {
  const query = new URLSearchParams({ host: domain, from: from.toISOString(), until: until.toISOString() });
  return `${botUrl}?${query}`;
}

export function PeriodForm({ proof: { domain, period } }: { proof: ProofSummary }) {
  const day = (at: Date) => at.toISOString().slice(0, 10);
  return (
    <form action={`/domains/${encodeURIComponent(domain)}`} class="actions period">
      <label for="from">From</label>
      <input id="from" name="from" type="date" value={day(period.from)} />
      <label for="until">until</label>
      <input id="until" name="until" type="date" value={day(period.until)} />
      <button type="submit">Show</button>
    </form>
  );
}

/** The addresses of pages are for operators. */
export function Violations({ violations, of }: { violations: readonly Violation[]; of: number }) {
  if (of === 0) return null;
  return (
    <>
      <h3>
        {violations.length < of ? `The worst ${violations.length} of ${formatCount(of)}` : 'Violations'}
      </h3>
      <pre tabindex={0}>
        {violations.flatMap(describeViolation).map((line) => (
          <>
            <FromWeb text={line} max={500} />
            {'\n'}
          </>
        ))}
      </pre>
    </>
  );
}

export function ProofFacts({ proof }: { proof: ProofSummary }) {
  const { period, coversFrom, requests, violationCount, withinClockError, notJudged, tightest } = proof;
  const polite = violationCount === 0;
  return (
    <>
      <p class={polite ? 'notice good' : 'notice bad'}>
        {requests === 0
          ? 'No request was sent in this period.'
          : polite
            ? `Polite: of ${formatPlural(requests, 'request')}, none came too soon after the one before it, and none went to a disallowed path.`
            : `Not polite: ${formatPlural(violationCount, 'violation')} in ${formatPlural(requests, 'request')}.`}
      </p>
      <dl class="facts">
        <dt>Period</dt>
        <dd>
          <Moment at={coversFrom ?? period.from} /> to <Moment at={period.until} />
          {coversFrom !== null && ' (the last 5,000 requests of a longer period)'}
        </dd>
        {tightest !== null && (
          <>
            <dt>Tightest gap</dt>
            <dd>
              {formatSeconds(tightest.gapMs)}; at least {formatSeconds(tightest.requiredMs)} was required
            </dd>
          </>
        )}
        {notJudged > 0 && (
          <>
            <dt>Not judged</dt>
            <dd>
              {formatPlural(notJudged, 'request')}: the rules of robots.txt at that time are no longer kept,
              or take too long to evaluate.
            </dd>
          </>
        )}
        {withinClockError > 0 && (
          <>
            <dt>Clock error</dt>
            <dd>
              {formatPlural(withinClockError, 'gap')}{' '}
              {withinClockError === 1 ? 'exceeds its' : 'exceed their'} required length by less than the error
              of the clocks, and {withinClockError === 1 ? 'counts' : 'count'} as kept.
            </dd>
          </>
        )}
      </dl>
    </>
  );
}
