/** `example.org-20260131-093000`: tells what and when, and sorts. */
export function newCrawlId(firstSeed: string, now: Date): string {
  const host = new URL(firstSeed).hostname.replaceAll(/[^A-Za-z0-9.-]/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  const stamp = now.toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return `${host.slice(0, 80) || 'crawl'}-${stamp}`;
}
