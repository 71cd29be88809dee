/** All views, in the order of the navigation. */
import type { View } from '../view.ts';
import { botView } from './bot.tsx';
import { crawlView } from './crawl.tsx';
import { domainView } from './domain.tsx';
import { domainsView } from './domains.tsx';
import { excludeView } from './exclude.tsx';
import { healthView } from './health.tsx';
import { nowView } from './now.tsx';
import { ordersView } from './orders.tsx';
import { pageView } from './page.tsx';
import { retryView } from './retry.tsx';
import { startView } from './start.tsx';

export const VIEWS: readonly View[] = [
  nowView,
  crawlView,
  domainsView,
  domainView,
  pageView,
  ordersView,
  startView,
  retryView,
  excludeView,
  healthView,
  botView,
];
