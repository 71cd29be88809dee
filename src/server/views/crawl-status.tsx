/** The status of a crawl, and figures, as several views show them. */
import { formatDuration } from '../../core/format.ts';
import type { CrawlStatus } from '../../core/outcome.ts';
import type { Child } from '../html/jsx.ts';
import { Count, type Tone } from '../html/parts.tsx';
import type { NowCrawl } from '../overview.ts';

export const CRAWL_TONES: Record<CrawlStatus, Tone> = {
  Running: 'busy',
  Paused: 'warn',
  Cancelling: 'warn',
  Completed: 'good',
  Cancelled: 'quiet',
  Failed: 'bad',
};

export function Figure({ name, children }: { name: string; children?: Child }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Numbers that add up. */
export function SumFigures({ found, done, open }: { found: number; done: number; open: number }) {
  return (
    <>
      <Figure name="Found">
        <Count value={found} />
      </Figure>
      <Figure name="= done">
        <Count value={done} />
      </Figure>
      <Figure name="+ open">
        <Count value={open} />
      </Figure>
    </>
  );
}

/** An end that is further away than a year says only that something is wrong. */
export const MAX_SHOWN_MS = 365 * 86_400_000;

export function describeLeft({
  secondsLeft,
  isGrowing,
}: Pick<NowCrawl, 'secondsLeft' | 'isGrowing'>): string {
  if (secondsLeft === null) return isGrowing ? 'not converging' : '–';
  return `about ${describeTime(1_000 * secondsLeft)}`;
}

export function describeTime(ms: number): string {
  return ms > MAX_SHOWN_MS ? 'over a year' : formatDuration(ms);
}
