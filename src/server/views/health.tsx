/** Health: what is wrong and how to mend it, workers, queues, and what they depend on. */
import { formatDuration, formatOffset, formatSize } from '../../core/format.ts';
import type { HealthReport } from '../../operator/health.ts';
import { contentStoreState } from '../../reports/health-findings.ts';
import { readHealthNow } from '../health.ts';
import type { Child } from '../html/jsx.ts';
import { Ago, Badge, Count, CrawlLink, Live, Table } from '../html/parts.tsx';
import { defineView } from '../view.ts';

export const healthView = defineView<HealthReport>({
  path: '/health',
  nav: 'Health',
  title: () => 'Health',
  needsDatabase: false,
  load: ({ services, now }) => readHealthNow(services, now),
  render(report, now) {
    const { findings, workers, backlog, crawls } = report;
    return (
      <>
        <h1>Health</h1>
        <Live id="findings">
          {findings.length === 0 && <p class="notice good">Nothing is wrong.</p>}
          {findings.map(({ level, what, cure }) => (
            <p class={`notice ${level}`}>
              <strong>{what}</strong> {cure}
            </p>
          ))}
        </Live>
        <h2>Dependencies</h2>
        <Live id="dependencies">
          <Dependencies report={report} />
        </Live>
        <h2>Workers</h2>
        <Live id="workers">
          <Table
            caption="Workers"
            rows={workers ?? []}
            empty={workers === null ? 'Not known: Postgres is unavailable.' : 'No worker is running.'}
            columns={[
              { head: 'Worker', cell: ({ identity }) => identity },
              { head: 'Started', cell: ({ startedAt }) => <Ago at={startedAt} now={now} /> },
              { head: 'Seen', cell: ({ seenAt }) => <Ago at={seenAt} now={now} /> },
              {
                head: 'Open fetches',
                numeric: true,
                cell: ({ openFetches }) => <Count value={openFetches} />,
              },
              {
                head: 'Waiting fetches',
                numeric: true,
                cell: ({ waitingFetches }) => <Count value={waitingFetches} />,
              },
              {
                head: 'Event loop lag',
                numeric: true,
                cell: ({ eventLoopLagMs }) => formatDuration(eventLoopLagMs),
              },
              { head: 'Clock', numeric: true, cell: ({ clockOffsetMs }) => formatOffset(clockOffsetMs) },
              { head: 'Cannot reach', cell: ({ unavailable }) => unavailable.join(', ') },
            ]}
          />
        </Live>
        <h2>Task queues</h2>
        <Live id="queues">
          <Table
            caption="Task queues and the tasks that wait in them"
            rows={backlog ?? []}
            empty="Not known: Temporal is unavailable."
            columns={[
              { head: 'Queue', cell: ({ queue }) => queue },
              { head: 'Backlog', numeric: true, cell: ({ tasks }) => <Count value={tasks} /> },
              {
                head: 'Oldest task',
                numeric: true,
                cell: ({ oldestMs }) => (oldestMs === 0 ? '–' : formatDuration(oldestMs)),
              },
            ]}
          />
        </Live>
        <h2>Open crawls</h2>
        <Live id="crawls">
          <Table
            caption="Crawls that have not ended"
            rows={crawls ?? []}
            empty="None."
            columns={[
              { head: 'Crawl', cell: ({ id }) => <CrawlLink id={id} /> },
              { head: 'Status', cell: ({ status }) => status },
              { head: 'Open', numeric: true, cell: ({ open }) => <Count value={open} /> },
              { head: 'Due', numeric: true, cell: ({ due }) => <Count value={due} /> },
              { head: 'Last page', cell: ({ lastDoneAt }) => <Ago at={lastDoneAt} now={now} /> },
              { head: 'Waits for', cell: ({ waitsFor }) => waitsFor ?? '' },
            ]}
          />
        </Live>
      </>
    );
  },
});

const STORE_TONES = { available: 'good', unavailable: 'bad', 'not known': 'quiet' } as const;

function Dependencies({ report }: { report: HealthReport }) {
  const { postgresError, temporalError, contentStore, databaseBytes, clockOffsetMs } = report;
  const { freeBytes, sizeBytes, name } = contentStore;
  const storeState = contentStoreState(report);
  return (
    <dl class="facts">
      <dt>Postgres</dt>
      <dd>
        <State error={postgresError}>{databaseBytes !== null && formatSize(databaseBytes)}</State>
      </dd>
      <dt>Temporal</dt>
      <dd>
        <State error={temporalError} />
      </dd>
      <dt>Content store</dt>
      <dd>
        <Badge tone={STORE_TONES[storeState]}>{storeState}</Badge>{' '}
        <span>
          {name}
          {contentStore.isBucket &&
            (storeState === 'not known' ? '; workers check it, and none is running' : ', as workers report')}
          {freeBytes !== null &&
            sizeBytes !== null &&
            `, ${formatSize(freeBytes)} of ${formatSize(sizeBytes)} free`}
        </span>
      </dd>
      <dt>Clock</dt>
      <dd>{clockOffsetMs === null ? 'not known' : `${formatOffset(clockOffsetMs)} compared to Postgres`}</dd>
    </dl>
  );
}

function State({ error, children }: { error: string | null; children?: Child }) {
  return (
    <>
      <Badge tone={error === null ? 'good' : 'bad'}>{error === null ? 'available' : 'unavailable'}</Badge>{' '}
      {children}
    </>
  );
}
