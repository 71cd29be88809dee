/** The result that a crawl of the demo web from all its front pages must have. */
import type { FinalStatus } from '../core/outcome.ts';
import { absoluteLink, DEMO_HOSTS, type DemoHost, type DemoPage, hostName, seedUrls } from './site.ts';

export interface ExpectedPage {
  url: string;
  status: FinalStatus;
}

/** Every reachable page once, with the status that a crawler which retries and obeys robots.txt gives it. */
export function expectedPages(port: number): ExpectedPage[] {
  const seen = new Map<string, ExpectedPage>();
  const queue = seedUrls(port);
  for (let raw = queue.shift(); raw !== undefined; raw = queue.shift()) {
    const url = withoutFragment(raw);
    if (seen.has(url)) continue;
    const { status, links } = visit(new URL(url));
    seen.set(url, { url, status });
    queue.push(...links);
  }
  return [...seen.values()];
}

function visit(url: URL): { status: FinalStatus; links: string[] } {
  const host = DEMO_HOSTS.find(({ name }) => hostName(name) === url.hostname);
  if (host && isDisallowed(host, url.pathname)) return { status: 'Blocked', links: [] };
  const page = host?.pages.find(({ path }) => path === url.pathname);
  if (!host || !page) return { status: 'Failed', links: [] };
  const links = linksOf(page).map((link) => absoluteLink(link, host.name, Number(url.port)));
  return { status: statusOf(page), links };
}

function isDisallowed({ robots }: DemoHost, path: string): boolean {
  return robots?.disallow.some((prefix) => path.startsWith(prefix)) ?? false;
}

function linksOf(page: DemoPage): string[] {
  switch (page.kind) {
    case 'html':
      return page.links;
    case 'redirect':
      return [page.to];
    case 'file':
      return [];
  }
}

function statusOf(page: DemoPage): FinalStatus {
  switch (page.kind) {
    case 'html':
      return 'Fetched';
    case 'redirect':
      return 'Redirected';
    case 'file':
      return 'Rejected';
  }
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/, '');
}
