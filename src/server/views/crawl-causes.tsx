/** Why pages of a crawl ended without content. */
import { formatPlural } from '../../core/format.ts';
import type { Cause, Causes } from '../../storage/reports/causes.ts';
import { Ago, Badge, Count, crawlAddress, FromWeb, Table } from '../html/parts.tsx';

const TONES = { Failed: 'bad', Rejected: 'quiet', Blocked: 'warn' } as const;

/** In words; docs/architecture.md has them all. */
const KINDS: Record<string, string> = {
  dns: 'the name could not be resolved',
  refused: 'connection refused',
  unreachable: 'unreachable',
  tls: 'TLS failed',
  reset: 'connection reset',
  truncated: 'the response was cut off',
  'bad-encoding': 'bad content encoding',
  'bad-response': 'not valid HTTP',
  'headers-too-large': 'headers too large',
  'connect-timeout': 'no connection in time',
  'first-byte-timeout': 'no response in time',
  timeout: 'took too long',
  forbidden: 'address or port not allowed by our policy',
  type: 'a content type that is not kept',
  'too-large': 'too large',
  redirect: 'a redirect that leads nowhere',
  robots: 'disallowed by robots.txt',
  down: 'the site could not be reached for a day',
  parse: 'could not be parsed',
  record: 'could not be recorded',
  internal: 'failed on our side',
  lost: 'lost with its worker',
};

function describeCause({ errorKind, statusCode }: Cause): string {
  if (errorKind === 'status') return `status ${statusCode ?? 'unknown'}`;
  if (errorKind === null) return 'no kind on record';
  const words = KINDS[errorKind] ?? errorKind;
  return statusCode === null ? words : `${words} (status ${statusCode})`;
}

export function CauseTable({
  crawl,
  causes: { causes, others },
  now,
}: {
  crawl: string;
  causes: Causes;
  now: Date;
}) {
  return (
    <>
      <Table
        caption="Pages that ended without content, by cause"
        rows={causes}
        empty="No page has failed."
        columns={[
          { head: 'Pages', numeric: true, cell: ({ pages }) => <Count value={pages} /> },
          { head: 'Cause', cell: (cause) => describeCause(cause) },
          { head: 'Ended', cell: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge> },
          { head: 'Domains', cell: (cause) => <Domains of={cause} /> },
          { head: 'First', cell: ({ firstAt }) => <Ago at={firstAt} now={now} /> },
          { head: 'Last', cell: ({ lastAt }) => <Ago at={lastAt} now={now} /> },
          { head: 'Examples', cell: ({ samples }) => <Samples samples={samples} /> },
          { head: 'Orders', cell: (cause) => <RetryLink crawl={crawl} cause={cause} /> },
        ]}
      />
      {others > 0 && <p class="muted">{formatPlural(others, 'more page')} of rarer causes.</p>}
    </>
  );
}

function Domains({ of: { domains, pages } }: { of: Cause }) {
  const rest = pages - domains.reduce((sum, domain) => sum + domain.pages, 0);
  return (
    <ul class="plain">
      {domains.map(({ domain, pages: count }) => (
        <li>
          <a href={`/domains/${encodeURIComponent(domain)}`}>{domain}</a> <Count value={count} />
        </li>
      ))}
      {rest > 0 && <li class="muted">others {rest.toLocaleString('en')}</li>}
    </ul>
  );
}

function Samples({ samples }: { samples: Cause['samples'] }) {
  return (
    <ul class="plain samples">
      {samples.map(({ url, reason }) => (
        <li>
          <a href={`/page?url=${encodeURIComponent(url)}`}>
            <FromWeb text={url} max={80} />
          </a>
          {reason !== null && (
            <small>
              {' '}
              <FromWeb text={reason} max={120} />
            </small>
          )}
        </li>
      ))}
    </ul>
  );
}

/** To a preview first: the page says what would be retried. */
function RetryLink({ crawl, cause: { status, errorKind, statusCode } }: { crawl: string; cause: Cause }) {
  if (status !== 'Failed' || errorKind === null) return null;
  const cause = statusCode === null ? errorKind : `${errorKind}/${statusCode}`;
  return <a href={`${crawlAddress(crawl)}/retry?${new URLSearchParams({ cause })}`}>Retry these</a>;
}
