/** The demo web's own truth: what a crawl of it, from all its front pages, must come to. */
import type { FinalStatus } from '../core/outcome.ts';
import { absoluteLink, hostName, seedUrls } from './addresses.ts';
import { DEMO_HOSTS, type DemoHost, type DemoPage } from './site.ts';

export interface ExpectedPage {
  url: string;
  status: FinalStatus;
}

/** Every page that can be reached, each once, walked as a patient and obedient crawler would. */
export function expectedPages(port: number): ExpectedPage[] {
  const seen = new Map<string, ExpectedPage>();
  const line = seedUrls(port);
  for (let raw = line.shift(); raw !== undefined; raw = line.shift()) {
    const url = withoutFragment(raw);
    if (seen.has(url)) continue;
    const { status, leadsTo } = visit(new URL(url));
    seen.set(url, { url, status });
    line.push(...leadsTo);
  }
  return [...seen.values()];
}

function visit(url: URL): { status: FinalStatus; leadsTo: string[] } {
  const host = DEMO_HOSTS.find(({ name }) => hostName(name) === url.hostname);
  if (host && isDisallowed(host, url.pathname)) return { status: 'Blocked', leadsTo: [] };
  const page = host?.pages.find(({ path }) => path === url.pathname);
  if (!host || !page) return { status: 'Failed', leadsTo: [] };
  const links = linksOf(page).map((link) => absoluteLink(link, host.name, Number(url.port)));
  return { status: statusOf(page), leadsTo: links };
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
