/** Pages per minute of a crawl lately, as a small picture beside its figures. */
import { formatDuration } from '../../core/format.ts';
import type { CrawlSample } from '../../storage/reports/counts.ts';

const WIDTH = 120;
const HEIGHT = 24;
const MINUTE_MS = 60_000;

/** Nothing if there are too few samples to see anything. */
export function Sparkline({ samples }: { samples: readonly CrawlSample[] }) {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || samples.length < 3) return null;
  const rates = ratesOf(samples);
  const most = Math.max(...rates.map(({ perMinute }) => perMinute));
  const spanMs = last.at.getTime() - first.at.getTime();
  const x = (at: Date) => (WIDTH * (at.getTime() - first.at.getTime())) / spanMs;
  const y = (perMinute: number) => HEIGHT - ((HEIGHT - 2) * perMinute) / Math.max(most, 1);
  const points = rates.map(({ at, perMinute }) => `${x(at).toFixed(1)},${y(perMinute).toFixed(1)}`);
  const label = `Pages per minute in the last ${formatDuration(spanMs)}: ${Math.round(rates.at(-1)?.perMinute ?? 0)} at the end, ${Math.round(most)} at most.`;
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <polyline points={points.join(' ')} />
    </svg>
  );
}

/** From each sample to the next. */
export function ratesOf(samples: readonly CrawlSample[]): { at: Date; perMinute: number }[] {
  return samples.slice(1).map((sample, index) => {
    const before = samples[index] ?? sample;
    const ms = Math.max(1, sample.at.getTime() - before.at.getTime());
    return { at: sample.at, perMinute: ((sample.done - before.done) * MINUTE_MS) / ms };
  });
}
