/** What `amble verify` would report for a lab's crawls. */
import { readRecords } from '../src/storage/reports/requests.ts';
import { type Proof, prove } from '../src/verify/index.ts';
import type { BenchEnvironment } from './lab.ts';

/** `crawlId` null: all of them. */
export function verifyCrawls({ db }: Pick<BenchEnvironment, 'db'>, crawlId: string | null): Promise<Proof> {
  const records = readRecords(db, crawlId);
  return prove(records, (request) => crawlId === null || request.crawlId === crawlId);
}
