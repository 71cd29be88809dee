/** What the activities of one worker process share. */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { AmbleConfig } from '../src/config/index.ts';
import type { ContentStore } from '../src/content-store.ts';
import type { Digestion } from '../src/digestion.ts';
import type { Parse } from '../src/html/index.ts';
import type { AgentPool } from '../src/http/index.ts';
import type { LoopLag } from '../src/loop-lag.ts';
import type { Outages } from '../src/outages.ts';
import type { OwnStarts } from '../src/own-starts.ts';
import type { ServerClock } from '../src/server-clock.ts';
import type { CrawlRecord } from '../src/storage/crawls.ts';
import type { Database } from '../src/storage/database.ts';
import type { PolitenessUnit } from '../src/urls/index.ts';

export interface Deps {
  config: AmbleConfig;
  db: Database;
  client: Client;
  store: ContentStore;
  agents: AgentPool;
  clock: ServerClock;
  starts: OwnStarts;
  digestion: Digestion;
  parse: Parse;
  lag: LoopLag;
  log: Logger;
  outages: Outages;
  /** Settings never change once a crawl is open, so they are read once. */
  crawlOf(crawlId: string): Promise<CrawlRecord & { keyedBy: PolitenessUnit }>;
}
