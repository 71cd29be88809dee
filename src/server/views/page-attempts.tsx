/** The attempts at a page, on a line of time. */
import { formatDuration } from '../../core/format.ts';
import type { PageReport } from '../../storage/reports/page-report.ts';
import { Badge, Clock, FromWeb, type Tone } from '../html/parts.tsx';

type Attempt = PageReport['attempts'][number];

const TONES: Record<Attempt['outcome'], Tone> = {
  ...{ Success: 'good', Rejected: 'quiet', Blocked4xx: 'bad', Blocked5xx: 'bad' },
  ...{ BlockedRobots: 'warn', Failed: 'bad', Timeout: 'bad' },
};

export function Attempts({ report: { attempts, crawl }, now }: { report: PageReport; now: Date }) {
  if (attempts.length === 0) return <p class="empty">None yet.</p>;
  return (
    <ol class="timeline">
      {attempts.map((attempt) => (
        <li>
          <div class="head">
            <strong>
              {attempt.attempt} of {crawl.maximumAttempts}
            </strong>
            <Badge tone={TONES[attempt.outcome]}>
              {attempt.outcome}
              {attempt.statusCode !== null && ` ${attempt.statusCode}`}
            </Badge>
            <Clock at={attempt.startedAt ?? attempt.finishedAt} now={now} />
          </div>
          <small>
            {attempt.startedAt === null
              ? 'No request was sent'
              : `Waited ${formatDuration(attempt.slotWaitMs)} for a slot`}
            {attempt.latencyMs !== null && `; response after ${formatDuration(attempt.latencyMs)}`}
            {attempt.bytes !== null && `; ${attempt.bytes.toLocaleString('en')} bytes`}
            {attempt.nextAttemptAt !== null && (
              <>
                ; next attempt at <Clock at={attempt.nextAttemptAt} now={now} />
              </>
            )}
            .
          </small>
          {attempt.error !== null && (
            <div>
              <FromWeb text={attempt.error} />
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}
