/** The status of a crawl, and figures, as several views show them. */
import type { CrawlStatus } from '../../core/outcome.ts';
import type { Child } from '../html/jsx.ts';
import { Count, type Tone } from '../html/parts.tsx';

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
