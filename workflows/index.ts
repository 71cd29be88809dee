/** The workflows, by the names people type. */
export { Crawl } from './crawl.ts';
export { CrawlPage } from './crawl-page.ts';
export { DomainThrottle } from './domain-throttle.ts';
