/** The ledgers: of links, and why some did not become pages; of pages, and why some were not crawled. */
import type { FullCrawlReport } from '../../reports/crawl-report.ts';
import { Count, Share, Table } from '../html/parts.tsx';

export function LedgerTable({ report }: { report: FullCrawlReport }) {
  const { ledger, progress } = report;
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
      <p class="muted">A link that is on two pages counts twice.</p>
      <Table
        caption="Pages that were found, and why some were not crawled"
        rows={rowsOf(report)}
        empty=""
        columns={[
          { head: 'Pages', numeric: true, cell: ({ pages }) => <Count value={pages} /> },
          { head: 'Result', cell: ({ what }) => what },
          {
            head: 'Share',
            cell: ({ what, pages }) => (
              <Share part={pages} of={progress.found} label={`${what}: ${pages} of ${progress.found}`} />
            ),
          },
        ]}
      />
    </>
  );
}

function rowsOf({ pageLedger }: FullCrawlReport): { what: string; pages: number }[] {
  const { found, crawled, open, robots, excluded, rejected, cancelled } = pageLedger;
  const rows = [
    { what: 'crawled', pages: crawled },
    { what: 'open', pages: open },
    { what: 'not crawled: disallowed by robots.txt', pages: robots },
    { what: 'not crawled: excluded by an operator', pages: excluded },
    { what: 'not crawled: rejected, see the causes above', pages: rejected },
    { what: 'not crawled: cancelled, or beyond the limit of pages', pages: cancelled },
  ];
  return [...rows.filter(({ pages }) => pages > 0), { what: 'pages found, the sum', pages: found }];
}
