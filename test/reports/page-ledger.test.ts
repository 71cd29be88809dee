import { expect, test } from 'vitest';
import { toPageLedger } from '../../src/reports/crawl-report.ts';

const PAGES = {
  ...{ Pending: 5, Queued: 2, Waiting: 1, Fetched: 20, Redirected: 4, Failed: 3 },
  ...{ Rejected: 9, Blocked: 7, Cancelled: 6 },
};
const FOUND = 57;

const rejected = (errorKind: string, pages: number) => ({ status: 'Rejected' as const, errorKind, pages });

test('every page that was found is in one row', () => {
  const causes = [rejected('excluded', 4), rejected('type', 5)];
  const { found, ...rows } = toPageLedger({ found: FOUND, pages: PAGES }, { causes });
  expect(rows).toEqual({ crawled: 27, open: 8, robots: 7, excluded: 4, rejected: 5, cancelled: 6 });
  expect(Object.values(rows).reduce((sum, pages) => sum + pages, 0)).toBe(found);
});

test('causes that are older than the counts do not make the sum wrong', () => {
  const causes = [rejected('excluded', 12)];
  const { excluded, rejected: others } = toPageLedger({ found: FOUND, pages: PAGES }, { causes });
  expect([excluded, others]).toEqual([9, 0]);
});
