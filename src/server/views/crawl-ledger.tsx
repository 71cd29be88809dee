/** The ledger of links: all that were found, and why some did not become pages. */
import type { Ledger } from '../../reports/crawl-report.ts';
import { Count, Share, Table } from '../html/parts.tsx';

export function LedgerTable({ ledger: { found, followed, skipped } }: { ledger: Ledger }) {
  const rows = [
    { what: 'lead to pages of this crawl', links: followed },
    ...skipped.map(({ reason, links }) => ({ what: `not followed: ${reason}`, links })),
    { what: 'links found, the sum', links: found },
  ];
  return (
    <>
      <Table
        caption="Links by what became of them"
        rows={found === 0 ? [] : rows}
        empty="No links have been found yet."
        columns={[
          { head: 'Links', numeric: true, cell: ({ links }) => <Count value={links} /> },
          { head: 'What became of them', cell: ({ what }) => what },
          {
            head: 'Share',
            cell: ({ what, links }) => (
              <Share part={links} of={found} label={`${what}: ${links} of ${found}`} />
            ),
          },
        ]}
      />
      <p class="muted">
        A link that is on two pages counts twice. Pages that robots.txt disallows become part of the crawl and
        end Blocked; they are among the causes above.
      </p>
    </>
  );
}
