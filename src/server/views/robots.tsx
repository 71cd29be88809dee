/** The robots.txt of an origin: how it was read, its text, and how it changed. */
import { formatDuration } from '../../core/format.ts';
import type { RobotsSummary } from '../../reports/domain-detail.ts';
import type { DiffLine, RobotsDiff } from '../../reports/robots-diff.ts';
import { Ago, Clock, expandTabs, FromWeb, Lines } from '../html/parts.tsx';

export function Robots({ robots, now }: { robots: RobotsSummary; now: Date }) {
  const { origin, text, versions, change, fetchedAt, error, crawlDelayMs } = robots;
  return (
    <article class="card">
      <h3>
        <FromWeb text={`${origin}/robots.txt`} />
      </h3>
      <dl class="facts">
        <dt>Read</dt>
        <dd>
          {fetchedAt === null ? 'never' : <Ago at={fetchedAt} now={now} />}
          {robots.freshUntil !== null && (
            <>
              , in force until <Clock at={robots.freshUntil} now={now} />
            </>
          )}
        </dd>
        {error !== null && (
          <>
            <dt>Last error</dt>
            <dd>
              <FromWeb text={error} />
            </dd>
          </>
        )}
        <dt>Crawl-delay</dt>
        <dd>{crawlDelayMs === null ? 'none' : formatDuration(crawlDelayMs)}</dd>
        <dt>Versions</dt>
        <dd>
          {versions.length === 0 && 'none'}
          {versions.map((since, at) => (
            <>
              {at > 0 && ', '}
              <Clock at={since} now={now} />
            </>
          ))}
        </dd>
      </dl>
      {change !== null && <Change change={change} />}
      {text === null ? (
        <p class="muted">There is no robots.txt, so everything is allowed.</p>
      ) : (
        <details open={change === null}>
          <summary>Text in force</summary>
          <pre tabindex={0}>
            <Lines text={text.trimEnd()} max={500} />
          </pre>
        </details>
      )}
    </article>
  );
}

const SIGNS: Record<DiffLine['kind'], string> = { added: '+', removed: '−', same: ' ' };

function Change({ change: { lines, more } }: { change: RobotsDiff }) {
  return (
    <details open>
      <summary>Last change</summary>
      <pre class="diff" tabindex={0}>
        {lines.map(({ kind, text }) => (
          <span class={kind}>
            {SIGNS[kind]} <FromWeb text={expandTabs(text)} max={500} />
            {'\n'}
          </span>
        ))}
        {more > 0 && `${more.toLocaleString('en')} more lines`}
      </pre>
    </details>
  );
}
