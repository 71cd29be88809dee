/** The state of a domain, as the list and its own page show it. */
import { confirmedOutages, describeDomainState } from '../../operator/describe-domain.ts';
import type { DomainReport } from '../../operator/domains.ts';
import { Badge, type Tone } from '../html/parts.tsx';

export function DomainBadge({ report, now }: { report: DomainReport; now: Date }) {
  return <Badge tone={toneOf(report, now)}>{describeDomainState(report, now)}</Badge>;
}

/** As its throttle says, or as stored. */
export function isPaused({ live, known }: DomainReport): boolean {
  return live === null ? known?.stored.paused === true : live.phase === 'paused';
}

function toneOf(report: DomainReport, now: Date): Tone {
  const { live, known } = report;
  const blockedUntil = (live ?? known?.stored)?.blockedUntil ?? 0;
  if (isPaused(report) || blockedUntil > now.getTime()) return 'warn';
  if (live?.phase === 'down' || confirmedOutages(known).length > 0) return 'bad';
  return live?.phase === 'open' ? 'good' : 'quiet';
}
