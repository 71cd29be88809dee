/** The proof that people run, on all that a test's database has on record. */
import { expect } from 'vitest';
import type { Database } from '../../src/storage/database.ts';
import { readRecords } from '../../src/storage/reports/requests.ts';
import { prove } from '../../src/verify/index.ts';

export async function expectPolite(db: Database): Promise<void> {
  const { requests, violations } = await prove(readRecords(db, null), () => true);
  expect(violations).toEqual([]);
  expect(requests).toBe(await db.request.count());
}
