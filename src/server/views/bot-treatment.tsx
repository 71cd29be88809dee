/** How one site is treated, for its owner. */
import { formatDuration, formatSeconds } from '../../core/format.ts';
import type { SiteTreatment } from '../../reports/site-treatment.ts';
import { Ago, Clock, FromWeb, Table } from '../html/parts.tsx';
import { ProofFacts } from './proof.tsx';

export function Treatment({ site, token, now }: { site: SiteTreatment; token: string; now: Date }) {
  if (site.unknown && site.requests.length === 0)
    return (
      <p class="notice">
        This crawler has sent no request to <FromWeb text={site.host} /> that is on record.
      </p>
    );
  const { requests, robots, gapMs, paused, waitsUntil, proof } = site;
  return (
    <>
      <h3>
        <FromWeb text={site.host} />
      </h3>
      {site.host !== proof.domain && (
        <p>All hosts of {proof.domain} share one gap, so the gap and the proof are those of all of them.</p>
      )}
      <dl class="facts">
        <dt>Gap</dt>
        <dd>{gapMs === null ? 'not known yet' : `at least ${formatDuration(gapMs)} between two requests`}</dd>
        {paused && (
          <>
            <dt>State</dt>
            <dd>paused: no requests are sent</dd>
          </>
        )}
        {waitsUntil !== null && waitsUntil > now && (
          <>
            <dt>Waiting</dt>
            <dd>
              until <Clock at={waitsUntil} now={now} />, as the site asked
            </dd>
          </>
        )}
      </dl>
      <ProofFacts proof={proof} />
      <h3>robots.txt as we understand it</h3>
      {robots.length === 0 && <p class="empty">It has not been read yet.</p>}
      {robots.map(({ origin, fetchedAt, rules, crawlDelayMs, text }) => (
        <>
          <p>
            <FromWeb text={`${origin}/robots.txt`} />
            {fetchedAt !== null && (
              <>
                , read <Ago at={fetchedAt} now={now} />
              </>
            )}
            {text === null ? ': there is none, so everything is allowed.' : `, for ${token}:`}
          </p>
          {text !== null && (
            <pre tabindex={0}>
              {rules.length === 0 && 'everything is allowed\n'}
              {rules.map((rule) => (
                <>
                  <FromWeb text={rule} />
                  {'\n'}
                </>
              ))}
              {crawlDelayMs !== null && `crawl-delay: ${crawlDelayMs / 1_000}`}
            </pre>
          )}
        </>
      ))}
      <h3>The last requests</h3>
      <Table
        caption="The last requests to this host"
        rows={requests}
        empty="None are on record."
        columns={[
          {
            head: 'Time (UTC)',
            cell: ({ startedAt }) => startedAt.toISOString().replace('T', ' ').slice(0, -1),
          },
          { head: 'For', cell: ({ purpose }) => (purpose === 'robots' ? 'robots.txt' : 'page') },
          { head: 'Status', numeric: true, cell: ({ statusCode }) => statusCode ?? 'none' },
          {
            head: 'Gap before',
            numeric: true,
            cell: ({ gapMs }) => (gapMs === null ? '–' : formatSeconds(gapMs)),
          },
        ]}
      />
    </>
  );
}
