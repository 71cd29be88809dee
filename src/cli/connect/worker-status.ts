/** Whether crawls are being worked on, for commands that have not joined Temporal. */
import type { AmbleConfig } from '../../config/index.ts';
import { type WorkStatus, workStatusOf } from '../../operator/work-status.ts';
import { joinTemporal } from './temporal-client.ts';

/** By crawl id. None of the crawls may have ended. */
export async function readWorkStatus(
  config: AmbleConfig,
  crawlIds: readonly string[],
): Promise<ReadonlyMap<string, WorkStatus>> {
  if (crawlIds.length === 0) return new Map();
  const temporal = await joinTemporal(config);
  try {
    return await workStatusOf(temporal?.client ?? null, config, crawlIds);
  } finally {
    await temporal?.close();
  }
}
