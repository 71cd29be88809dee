/** Stops everything at once, and lifts that again. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AmbleConfig } from '../config/index.ts';
import type { OrderOrigin } from '../core/order.ts';
import { claimPolitenessKey } from '../storage/installation.ts';
import { countStarting, liftStop, stopEverything } from '../storage/stop.ts';
import { type RowOperation, requestSweep } from './crawl-orders.ts';
import { CrawlConflict } from './errors.ts';

const POLL_INTERVAL_MS = 100;

/**
 * No request starts after this has returned, of any crawl and to any domain, also of crawls that begin later. It waits for requests
 * that are connecting: some seconds at most. `onWait` is told how many there are.
 */
export async function stopAll(
  { db, config }: Pick<RowOperation, 'db'> & { config: AmbleConfig },
  origin: OrderOrigin,
  onWait: (starting: number) => void = () => {},
): Promise<void> {
  // A database that has just been created has no row to stop yet.
  await claimPolitenessKey(db, config.politenessKey);
  await stopEverything(db, { id: randomUUID(), kind: 'stop', origin });
  for (let starting = await countStarting(db); starting > 0; starting = await countStarting(db)) {
    onWait(starting);
    await sleep(POLL_INTERVAL_MS);
  }
}

/** What ran before runs again; what was paused before stays paused. */
export async function resumeAll({ client, db }: RowOperation, origin: OrderOrigin): Promise<void> {
  if (!(await liftStop(db, { id: randomUUID(), kind: 'resume', origin })))
    throw new CrawlConflict('Nothing is stopped.');
  if (client === null) return;
  const running = await db.crawl.findMany({ where: { status: 'Running' }, select: { id: true } });
  for (const { id } of running) if (!(await requestSweep(client, id))) return;
}
