/** The ledger of links: all that were found, and why some did not become pages. */
import { formatCount, formatPlural } from '../../core/format.ts';
import type { FullCrawlReport } from '../../reports/crawl-report.ts';
import { Count, Share, Table } from '../html/parts.tsx';

export function LedgerTable({ report: { ledger, progress } }: { report: FullCrawlReport }) {
  const { found, followed, skipped } = ledger;
  const rows = [
    { what: 'lead to pages of this crawl', links: followed },
    ...skipped.map(({ reason, links }) => ({ what: `not followed: ${reason}`, links })),
    { what: 'links found, the sum', links: found },
  ];
  return (
    <>
      <Table
        caption="Links by result"
        rows={found === 0 ? [] : rows}
        empty="No links have been found yet."
        columns={[
          { head: 'Links', numeric: true, cell: ({ links }) => <Count value={links} /> },
          { head: 'Result', cell: ({ what }) => what },
          {
            head: 'Share',
            cell: ({ what, links }) => (
              <Share part={links} of={found} label={`${what}: ${links} of ${found}`} />
            ),
          },
        ]}
      />
      <p class="muted">
        A link that is on two pages counts twice. Seeds and followed links are{' '}
        {formatPlural(progress.found, 'page')}
        {notCrawled(progress)}.
      </p>
    </>
  );
}

/** Pages that were found and not crawled. */
function notCrawled({ pages: { Blocked, Rejected, Cancelled } }: FullCrawlReport['progress']): string {
  const counts = [
    [Blocked, 'blocked by robots.txt'],
    [Rejected, 'rejected'],
    [Cancelled, 'cancelled'],
  ] as const;
  const parts = counts.filter(([pages]) => pages > 0).map(([pages, what]) => `${formatCount(pages)} ${what}`);
  return parts.length === 0 ? '' : `; not crawled: ${parts.join(', ')} (see the causes above)`;
}
