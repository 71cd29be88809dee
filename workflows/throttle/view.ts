/** What a person sees of a domain: why the next page has to wait, and for how long. */
import { expectedAt } from './eta.ts';
import { type GapReason, longestCrawlDelay, minGapBefore } from './gap.ts';
import { nextInLine, upcoming } from './line.ts';
import type { ThrottleState } from './state.ts';
import type { DelayRange, DomainStats } from './types.ts';

const SHOWN_IN_LINE = 10;

export interface ThrottleView {
  domain: string;
  now: number;
  /** loading: its row has not been read yet, so nothing is granted. */
  phase: 'loading' | 'open' | 'paused' | 'blocked';
  /** The gap in force before the next request, and who wants it that long. */
  gapMs: number;
  gapBecause: GapReason;
  operatorDelay: DelayRange | null;
  crawlDelayMs: number;
  backoffMs: number;
  /** null: no Retry-After is running. */
  blockedUntil: number | null;
  /** Latest moment at which a request may have started; null: none so far. */
  lastStart: number | null;
  /** null: nobody waits, or nobody will be served before a person resumes the domain. */
  nextGrantAt: number | null;
  waiting: number;
  /** The first few in the order in which they will be served. */
  next: Array<{ workflowId: string; crawlId: string; priority: number; askedAt: number }>;
  leases: Array<{
    id: string;
    workflowId: string;
    notBefore: number;
    startBy: number;
    startedAt: number | null;
  }>;
  stats: DomainStats;
}

export function view(state: ThrottleState, now: number): ThrottleView {
  const next = nextInLine(state.line) ?? null;
  const gap = minGapBefore(state, next);
  const blockedUntil = state.blockedUntil !== null && state.blockedUntil > now ? state.blockedUntil : null;
  return {
    domain: state.domain,
    now,
    phase: phaseOf(state, blockedUntil),
    gapMs: gap.ms,
    gapBecause: gap.because,
    operatorDelay: state.operatorDelay,
    crawlDelayMs: longestCrawlDelay(state),
    backoffMs: state.backoffMs,
    blockedUntil,
    lastStart: state.lastStart?.at ?? null,
    nextGrantAt: next && !state.paused ? expectedAt(state, next, 1, now) : null,
    waiting: state.line.waiting.length,
    next: upcoming(state.line, SHOWN_IN_LINE).map(({ workflowId, crawlId, priority, askedAt }) => ({
      workflowId,
      crawlId,
      priority,
      askedAt,
    })),
    leases: state.leases.map(({ lease: { id, notBefore, startBy }, workflowId, startedAt }) => ({
      id,
      workflowId,
      notBefore,
      startBy,
      startedAt,
    })),
    stats: { ...state.stats },
  };
}

function phaseOf(state: ThrottleState, blockedUntil: number | null): ThrottleView['phase'] {
  if (state.openedAt === null) return 'loading';
  if (state.paused) return 'paused';
  return blockedUntil === null ? 'open' : 'blocked';
}
