/** What `amble verify` would say of a lab's crawls, by the limits that they ran with. */
import { readRecords } from '../src/storage/reports/requests.ts';
import { type Proof, prove } from '../src/verify/index.ts';
import type { Lab } from './lab.ts';

/** `crawlId` null: all of them. */
export function proofOf({ db, config }: Pick<Lab, 'db' | 'config'>, crawlId: string | null): Promise<Proof> {
  const records = readRecords(db, crawlId, config.throttle);
  return prove(records, (request) => crawlId === null || request.crawlId === crawlId);
}
