/** Pictures, drawn on the server. Numbers stand beside them as text, so that they stay readable at any width. */
import type { CrawlSample } from '../../storage/reports/counts.ts';
import type { PastRequest } from '../../storage/reports/request-history.ts';

const WIDTH = 1_000;
const HEIGHT = 200;

export interface GrowthProps {
  /** In order of time; at least two. */
  samples: readonly CrawlSample[];
  /** When found and done are expected to meet. null: not known. */
  endsAt: Date | null;
  label: string;
}

/** The time at its right edge. A projection beyond the double of what has passed would press the past into a corner. */
export function growthChartEnd(first: Date, last: Date, endsAt: Date | null): Date {
  const age = Math.max(1, last.getTime() - first.getTime());
  return new Date(Math.max(last.getTime(), Math.min(endsAt?.getTime() ?? 0, first.getTime() + 2 * age)));
}

/** Found and done over time, with the projection as a dashed line. */
export function GrowthChart({ samples, endsAt, label }: GrowthProps) {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return null;
  const from = first.at.getTime();
  const age = Math.max(1, last.at.getTime() - from);
  const until = growthChartEnd(first.at, last.at, endsAt).getTime();
  const x = (at: number) => (WIDTH * (at - from)) / Math.max(age, until - from);
  const y = (pages: number) => HEIGHT - ((HEIGHT - 8) * pages) / Math.max(1, last.found);
  const points = (of: (sample: CrawlSample) => number) =>
    samples.map((sample) => `${round(x(sample.at.getTime()))},${round(y(of(sample)))}`).join(' ');
  const now = x(last.at.getTime());
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <Grid />
      <polygon class="area" points={`0,${HEIGHT} ${points(({ done }) => done)} ${round(now)},${HEIGHT}`} />
      <polyline class="line found" points={points(({ found }) => found)} />
      <polyline class="line done" points={points(({ done }) => done)} />
      {endsAt !== null && until > last.at.getTime() && (
        <polyline class="line projected" points={projectedPoints(last, endsAt, until, x, y)} />
      )}
    </svg>
  );
}

/** From done now towards where it meets what is found, as far as the picture goes. */
function projectedPoints(
  last: CrawlSample,
  endsAt: Date,
  until: number,
  x: (at: number) => number,
  y: (pages: number) => number,
): string {
  const share = (until - last.at.getTime()) / (endsAt.getTime() - last.at.getTime());
  const reached = last.done + share * (last.found - last.done);
  return `${round(x(last.at.getTime()))},${round(y(last.done))} ${round(x(until))},${round(y(reached))}`;
}

/** Two requests must not look like a wall. */
const MAX_BAR = 30;

/** Each request's gap as a bar, and the gap that was required as a mark on it. Longer pauses are cut off at the top. */
export function GapChart({ requests, label }: { requests: readonly PastRequest[]; label: string }) {
  const measured = requests.filter(({ gapMs }) => gapMs !== null);
  const top = 3 * Math.max(1, ...measured.map(({ requiredMs }) => requiredMs));
  const step = WIDTH / Math.max(1, measured.length);
  const bar = Math.min(0.8 * step, MAX_BAR);
  const height = (ms: number) => (HEIGHT * Math.min(ms, top)) / top;
  return (
    <svg
      class="chart gaps"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <Grid />
      {measured.map(({ gapMs, requiredMs }, at) => (
        <>
          <rect
            class={(gapMs ?? 0) < requiredMs ? 'gap short' : 'gap'}
            x={round((at + 0.5) * step - bar / 2)}
            width={round(bar)}
            y={round(HEIGHT - height(gapMs ?? 0))}
            height={round(height(gapMs ?? 0))}
          />
          <rect
            class="required"
            x={round(at * step)}
            width={round(step)}
            y={round(HEIGHT - height(requiredMs))}
            height="1.5"
          />
        </>
      ))}
    </svg>
  );
}

function Grid() {
  return (
    <>
      {[0.25, 0.5, 0.75].map((share) => (
        <line class="grid" x1="0" x2={WIDTH} y1={HEIGHT * share} y2={HEIGHT * share} />
      ))}
    </>
  );
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
