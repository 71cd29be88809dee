/** What the activities of one worker process share. */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { AmbleConfig } from '../src/config/index.ts';
import type { KeyedLimiter } from '../src/core/keyed-limiter.ts';
import type { Labels } from '../src/core/page-input.ts';
import type { Parse } from '../src/html/index.ts';
import type { AgentPool, BodyMemory } from '../src/http/index.ts';
import type { RobotsRulesCache } from '../src/robots/index.ts';
import type { CrawlRecord } from '../src/storage/crawls.ts';
import type { Database } from '../src/storage/database.ts';
import type { AddressLimiter } from '../src/worker/address-limiter.ts';
import type { SharedRemoteClock } from '../src/worker/clocks.ts';
import type { ContentStore } from '../src/worker/content-store.ts';
import type { DependencyHealth } from '../src/worker/dependency-health.ts';
import type { EventLoopLag } from '../src/worker/event-loop-lag.ts';
import type { FetchSlots } from '../src/worker/fetch-slots.ts';
import type { GateWaits } from '../src/worker/gate-waits.ts';
import type { WorkerLateness } from '../src/worker/lateness.ts';
import type { LeadingDomains } from '../src/worker/leading-domains.ts';
import type { WorkerMetrics } from '../src/worker/metrics.ts';
import type { QuickFetches } from '../src/worker/quick-fetches.ts';
import type { HeldReports } from './slot/held-reports.ts';

export interface Deps {
  config: AmbleConfig;
  db: Database;
  databaseClock: SharedRemoteClock;
  client: Client;
  store: ContentStore;
  agents: AgentPool;
  addresses: AddressLimiter;
  fetchSlots: FetchSlots;
  /** Lookups of names are shared out in the same way. */
  lookupSlots: FetchSlots;
  quickFetches: QuickFetches;
  lateness: WorkerLateness;
  bodyMemory: BodyMemory;
  robotsRules: RobotsRulesCache;
  gateWaits: GateWaits;
  reports: HeldReports;
  /** Of the asks that are on their way to a throttle, by domain. */
  limitAsks: KeyedLimiter;
  parse: Parse;
  lag: EventLoopLag;
  metrics: WorkerMetrics;
  log: Logger;
  labels: Labels;
  dependencies: DependencyHealth;
  /** Settings never change once a crawl is open, so they are read once. */
  crawlOf(crawlId: string): Promise<CrawlRecord>;
  leadingDomains: LeadingDomains;
}
