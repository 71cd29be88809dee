/** Which domains set the end of a crawl, and what a shorter delay would save. */
import { formatDuration } from '../../core/format.ts';
import type { PoliteEnd, RemainingTime } from '../../reports/remaining-time.ts';
import { Badge, Clock, Count, Table } from '../html/parts.tsx';

export function RemainingTable({ end: { domains, saving }, now }: { end: PoliteEnd; now: Date }) {
  return (
    <>
      <h2>Domains by remaining time</h2>
      {saving !== null && (
        <p class="notice">
          A delay of {formatDuration(saving.toMs)} instead of {formatDuration(saving.fromMs)} on{' '}
          {saving.domain} would end the crawl {formatDuration(saving.savedMs)} earlier
          {saving.next === saving.domain ? '.' : `; then ${saving.next} would take longest.`}
        </p>
      )}
      <Table
        caption="Domains by the time that their open pages take"
        rows={domains}
        rowId={({ domain }) => `domain-${domain}`}
        empty="No page is open."
        columns={[
          {
            head: 'Domain',
            cell: ({ domain }) => <a href={`/domains/${encodeURIComponent(domain)}`}>{domain}</a>,
          },
          { head: 'Open', numeric: true, cell: ({ open }) => <Count value={open} /> },
          { head: '× gap', numeric: true, cell: ({ gapMs }) => formatDuration(gapMs) },
          {
            head: '= at least',
            numeric: true,
            cell: ({ remainingMs }) => (remainingMs === null ? '–' : formatDuration(remainingMs)),
          },
          { head: 'At half the gap', numeric: true, cell: (domain) => describeSaving(domain) },
          { head: 'Found', numeric: true, cell: ({ found }) => <Count value={found} /> },
          { head: '', cell: (domain) => <Obstacle domain={domain} now={now} /> },
        ]}
      />
    </>
  );
}

function describeSaving({ remainingMs, atHalfMs }: RemainingTime): string {
  if (remainingMs === null || atHalfMs === null) return '–';
  const savedMs = remainingMs - atHalfMs;
  return savedMs <= 0 ? 'the same: the site asks for it' : `${formatDuration(savedMs)} less`;
}

function Obstacle({ domain: { paused, down, blockedUntil }, now }: { domain: RemainingTime; now: Date }) {
  if (paused) return <Badge tone="warn">paused</Badge>;
  if (blockedUntil !== null)
    return (
      <Badge tone="warn">
        asked us to wait until <Clock at={blockedUntil} now={now} />
      </Badge>
    );
  return down ? <Badge tone="bad">down</Badge> : null;
}
