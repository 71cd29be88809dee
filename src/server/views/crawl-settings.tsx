/** The settings that a crawl began with. */
import { formatDelayRange } from '../../core/duration.ts';
import { formatCount, formatDuration } from '../../core/format.ts';
import type { FullCrawlReport } from '../../reports/crawl-report.ts';
import { FromWeb } from '../html/parts.tsx';

export function SettingsFacts({ report: { settings, seeds, seedCount } }: { report: FullCrawlReport }) {
  const { retry } = settings;
  const limit = (value: number | null) => (value === null ? 'no limit' : formatCount(value));
  const facts: [string, string][] = [
    ['Preset', settings.preset],
    ['Scope', settings.scope],
    ['Delay', formatDelayRange(settings.delay)],
    ['Concurrency per domain', String(settings.concurrency)],
    ['Pages', limit(settings.maxPages)],
    ['Pages per domain', limit(settings.maxPagesPerDomain)],
    ['Depth', limit(settings.maxDepth)],
    ['Sitemaps', settings.sitemaps ? 'read' : 'not read'],
    ['Attempts', `${retry.maximumAttempts}, the next after ${formatDuration(retry.initialIntervalMs)}`],
    ['Include', settings.include.join(' ') || 'everything in scope'],
    ['Exclude', settings.exclude.join(' ') || 'nothing'],
  ];
  return (
    <>
      <dl class="facts">
        <dt>Seeds</dt>
        <dd>
          {seeds.map((url) => (
            <div>
              <a href={`/page?url=${encodeURIComponent(url)}`}>
                <FromWeb text={url} />
              </a>
            </div>
          ))}
          {seedCount > seeds.length && <small>and {formatCount(seedCount - seeds.length)} more</small>}
        </dd>
        {facts.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>
              <FromWeb text={value} />
            </dd>
          </>
        ))}
      </dl>
      <details>
        <summary>All settings</summary>
        <pre tabindex={0}>{JSON.stringify(settings, null, 2).slice(0, 20_000)}</pre>
      </details>
    </>
  );
}
