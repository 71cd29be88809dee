/**
 * What the recorded histories have to show, in the order in which it happens (see storyOf for the words). Each situation is
 * a small crawl of which three histories are kept: the crawl's, one page's and the throttle's.
 */
import { type Evidence, KINDS, type Kind } from './evidence.ts';
import { TROUBLE } from './trouble.ts';

const SERVED = ['update acquire', 'answered acquire granted', 'signal release started'];
const WHOLE = ['completed openCrawl', 'local sweepCrawl', 'starts CrawlPage', 'timer started', 'completed'];

export const SITUATIONS = {
  granted: {
    crawl: WHOLE,
    page: [
      'local acquireSlot granted',
      'completed fetchPage attempt Success document',
      'local digestPage',
      'starts CrawlPage',
      'completed',
    ],
    throttle: [...SERVED, 'timer fired', 'scheduled saveDomain', 'completed'],
  },
  queued: {
    crawl: WHOLE,
    page: [
      'local acquireSlot queued',
      'timer started',
      'signal granted',
      'completed fetchPage attempt Success document',
      'completed',
    ],
    throttle: ['answered acquire queued', 'timer fired', 'signals granted', 'external signaled'],
  },
  retried: {
    crawl: WHOLE,
    page: [
      'completed fetchPage attempt Blocked5xx nothing',
      'local persistPage',
      'timer started',
      'timer fired',
      'local acquireSlot',
      'completed fetchPage attempt Success document',
      'completed',
    ],
    throttle: ['signal release started overloaded', 'signal release started ok'],
  },
  redirected: {
    crawl: WHOLE,
    page: [
      'completed fetchPage attempt Success redirect',
      'local persistPage',
      'starts CrawlPage',
      'completed',
    ],
    throttle: SERVED,
  },
  held: {
    crawl: WHOLE,
    page: [
      'completed fetchPage held',
      'local persistPage',
      'timer started',
      'timer fired',
      'completed fetchPage robots-read',
      'completed fetchPage attempt Success document',
      'completed',
    ],
    throttle: ['signal release started overloaded', 'signal release started ok'],
  },
  continued: {
    crawl: ['started', 'continued as new'],
    page: ['started', 'completed fetchPage attempt Blocked5xx nothing', 'continued as new'],
    throttle: ['started', 'signals granted', 'continued as new'],
  },
  'taken-over': {
    crawl: ['started from an earlier run', 'local sweepCrawl'],
    page: ['started from an earlier run', 'completed fetchPage attempt', 'completed'],
    throttle: ['started from an earlier run', 'signal release started'],
  },
  cancelled: {
    crawl: ['cancel requested', 'scheduled cancelPages', 'completed cancelPages', 'canceled'],
    page: [
      'local acquireSlot queued',
      'cancel requested',
      'signals withdraw',
      'local persistPage',
      'canceled',
    ],
    throttle: ['answered acquire queued', 'signal withdraw', 'cancel requested', 'canceled'],
  },
  'cancelled-early': {
    crawl: [
      'scheduled openCrawl',
      'cancel requested',
      'completed openCrawl',
      'completed cancelPages',
      'canceled',
    ],
  },
  'cancelled-slowly': {
    crawl: ['update cancel', 'completed cancelPages', 'timer fired', 'continued as new'],
    page: ['scheduled fetchPage', 'cancel requested', 'canceled'],
  },
  'cancelled-on': {
    crawl: ['started from an earlier run', 'completed cancelPages', 'completed'],
  },
  steered: {
    crawl: ['update pause', 'local steerCrawl', 'update resume', 'local steerCrawl', 'completed'],
    page: ['local acquireSlot queued', 'signal granted', 'completed'],
    throttle: ['update pause', 'scheduled saveDomain', 'update setDelay', 'update resume', 'update reset'],
  },
  down: {
    crawl: WHOLE,
    page: ['local acquireSlot down', 'local persistPage', 'timer fired', 'local acquireSlot', 'completed'],
    throttle: ['signal release started unreachable', 'answered acquire down'],
  },
  sitemap: {
    crawl: WHOLE,
    page: ['completed fetchPage attempt Success document', 'completed readSitemap', 'local persistPage'],
    throttle: SERVED,
  },
  /** Not over: what new code finds when it is deployed while a crawl runs. */
  asleep: {
    crawl: ['local sweepCrawl', 'timer started'],
    page: ['completed fetchPage attempt Blocked5xx nothing', 'local persistPage', 'timer started'],
    throttle: SERVED,
  },
  ...TROUBLE,
} satisfies Record<string, Evidence>;

export type Situation = keyof typeof SITUATIONS;

export function evidenceOf(situation: Situation, kind: Kind): readonly string[] | null {
  const evidence: Evidence = SITUATIONS[situation];
  return evidence[kind] ?? null;
}

/** Every history there has to be, by the name of its file. */
export const ALL = (Object.keys(SITUATIONS) as Situation[]).flatMap((situation) =>
  KINDS.flatMap((kind) => {
    const evidence = evidenceOf(situation, kind);
    return evidence === null ? [] : [{ name: nameOf(situation, kind), kind, evidence }];
  }),
);

export function nameOf(situation: Situation, kind: Kind): string {
  return `${situation}.${kind}`;
}

/** The first line of the evidence that the story does not have after those before it; null: it shows them all. */
export function missingFrom(story: readonly string[], evidence: readonly string[]): string | null {
  let at = 0;
  for (const wanted of evidence) {
    const found = story.findIndex((line, i) => i >= at && (line === wanted || line.startsWith(`${wanted} `)));
    if (found === -1) return wanted;
    at = found + 1;
  }
  return null;
}
