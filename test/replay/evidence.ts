/** What each recorded history has to show, in this order (see `summarize` for the lines). */
export const EVIDENCE = {
  'granted.page': [
    'local acquireSlot granted',
    'completed fetchPage attempt Success document',
    'local processPage',
    'starts CrawlPage',
    'completed',
  ],
  'granted.throttle': [
    'update acquire',
    'answered acquire granted',
    'signal release',
    'timer fired',
    'scheduled saveDomain',
    'completed',
  ],
  /** It has a slot when it starts. It sleeps until then, and then fetches within its workflow task. */
  'reserved.page': ['timer started', 'timer fired', 'local fetchAndRecord recorded', 'completed'],
  /** The same, but it waits for its slot within its workflow task. */
  'staying.page': ['local fetchAndRecord recorded', 'completed'],
  'retried.page': [
    'completed fetchPage attempt Blocked5xx nothing',
    'local persistPage',
    'timer started',
    'timer fired',
    'local acquireSlot',
    'completed fetchPage attempt Success document',
    'completed',
  ],
  'redirected.page': [
    'completed fetchPage attempt Success redirect',
    'local persistPage',
    'starts CrawlPage',
    'completed',
  ],
  'sitemap.page': [
    'completed fetchPage attempt Success document',
    'completed readSitemap',
    'local persistPage',
    'completed',
  ],
  /** robots.txt answers 503. */
  'deferred.page': [
    'completed fetchPage deferred',
    'local persistPage',
    'timer started',
    'timer fired',
    'completed fetchPage robots-read',
    'completed fetchPage attempt Success document',
    'completed',
  ],
  'robots-moved.page': [
    'completed fetchPage robots-moved',
    'local acquireSlot',
    'completed fetchPage robots-read',
    'completed fetchPage attempt Success document',
    'completed',
  ],
  'down.page': [
    'local acquireSlot down',
    'local persistPage',
    'timer fired',
    'local acquireSlot',
    'completed',
  ],
  /** The next slots are reserved. */
  'later.page': [
    'local acquireSlot later',
    'timer fired',
    'local acquireSlot granted',
    'local fetchAndRecord recorded',
    'completed',
  ],
  /** Its worker died during the fetch. */
  'lost.page': [
    'timed out fetchPage heartbeat',
    'local releaseSlot',
    'local acquireSlot',
    'completed fetchPage attempt Success document',
    'completed',
  ],
  /** It cannot be parsed. */
  'faulty.page': [
    'local processPage failed',
    'timer fired',
    'local processPage failed',
    'timer fired',
    'local processPage failed',
    'local persistPage',
    'completed',
  ],
  'cancelled.page': [
    'local acquireSlot granted',
    'timer started',
    'cancel requested',
    'local releaseSlot',
    'local persistPage',
    'canceled',
  ],
  'cancelled.crawl': [
    'cancel requested',
    'local applyCrawlOrders',
    'scheduled cancelPages',
    'completed cancelPages',
    'canceled',
  ],
  /** Paused and resumed; the throttle is also given another delay and reset. */
  'operated.crawl': [
    'update pause',
    'local applyCrawlOrders',
    'update resume',
    'local applyCrawlOrders',
    'completed',
  ],
  'operated.throttle': [
    'update pause',
    'scheduled saveDomain',
    'update setDelay',
    'signals askAgain',
    'update resume',
    'update reset',
  ],
  /** The first run and, of the page, the second. */
  'continued.throttle': ['started', 'answered acquire granted', 'continued as new'],
  'continued.page': ['started', 'completed fetchPage attempt Blocked5xx nothing', 'continued as new'],
  'continuing.page': ['started from an earlier run', 'completed fetchPage attempt', 'completed'],
} satisfies Record<string, readonly string[]>;

export type HistoryName = keyof typeof EVIDENCE;

/** The first line of the evidence that is missing; null: none. */
export function missingFrom(summary: readonly string[], evidence: readonly string[]): string | null {
  let at = 0;
  for (const wanted of evidence) {
    const found = summary.findIndex(
      (line, i) => i >= at && (line === wanted || line.startsWith(`${wanted} `)),
    );
    if (found === -1) return wanted;
    at = found + 1;
  }
  return null;
}
