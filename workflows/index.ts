/** The workflows, by the names people type. */
export { Crawl } from './crawl.ts';
export { CrawlPage } from './page/crawl-page.ts';
export { DomainThrottle } from './throttle/domain-throttle.ts';
