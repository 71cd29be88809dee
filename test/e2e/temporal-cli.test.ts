import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { packageRoot } from '../../src/core/package-root.ts';
import { choosePorts, LOOPBACK } from '../../src/embedded/ports.ts';
import { findTemporalBinary } from '../../src/embedded/temporal-binary.ts';
import { probeTemporal } from '../../src/temporal/probe.ts';
import { initialiseHome } from '../support/initialised-home.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';
import { createInstallation, type Installation, type RunningProgram, startProgram } from './support.ts';

const run = promisify(execFile);

const PAGES = 8;
/** Answers 503 at first, so that there is a retry to look at. */
const FLAKY = '/8';

const README = readFileSync(join(packageRoot, 'README.md'), 'utf8');

let web: TestWeb;
let amble: Installation;
let server: RunningProgram;
let worker: RunningProgram;
let binary: string;
let address: string;

/** The stock server in one terminal, a worker in another. */
beforeAll(async () => {
  web = await startWeb({
    shop: flatSite(PAGES, (path, { count }) => (path === FLAKY && count === 1 ? { status: 503 } : undefined)),
  });
  binary = await findTemporalBinary(process.env.AMBLE_TEMPORAL_BINARY, () => {});
  const [port] = await choosePorts(1, []);
  address = `${LOOPBACK}:${port}`;
  amble = await createInstallation({
    env: { TEMPORAL_ADDRESS: address },
    tuning: { crawl: { window: PAGES } },
  });
  await initialiseHome(amble.home);
  const [, attributes = ''] = /^temporal server start-dev((?:.*\\\n)*.*) {2}/m.exec(README) ?? [];
  const options = ['--headless', '--ip', LOOPBACK, '--port', String(port), '--log-level', 'error'];
  options.push(...(attributes.match(/[\w-]+=?\w+/g) ?? []));
  server = startProgram(binary, ['server', 'start-dev', ...options], terminal());
  const serves = async () => expect(await probeTemporal({ address, namespace: 'default' })).toBe('serving');
  await vi.waitFor(serves, { timeout: 60_000, interval: 100 });
  worker = amble.start('worker');
  await worker.waitForStderr(/Worker ready: task queue amble/);
});

afterAll(async () => {
  worker?.kill('SIGTERM');
  await worker?.ended;
  server?.kill('SIGTERM');
  await server?.ended;
  await amble?.remove();
  await web?.stop();
});

/** A home of its own, without the profiles of the user who runs the tests. */
function terminal(): { cwd: string; env: Record<string, string> } {
  return { cwd: amble.directory, env: { HOME: amble.directory } };
}

/** What people type, against the server of this test. */
async function temporal(...args: string[]): Promise<unknown> {
  const line = [...args, '--address', address, '--output', 'json'];
  const { stdout } = await run(binary, line, { ...terminal(), maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout);
}

function startCrawl(id: string, input: unknown): Promise<unknown> {
  return temporal(
    ...['workflow', 'start', '--type', 'Crawl', '--task-queue', 'amble', '--workflow-id', id],
    ...['--input', JSON.stringify(input)],
  );
}

describe('a crawl with the stock Temporal CLI', () => {
  const counts = { crawlId: 'my-crawl', found: PAGES + 1, pages: { Fetched: PAGES + 1 } };

  test('starts by its type and returns its counts', async () => {
    await startCrawl('my-crawl', { seeds: [web.url('shop')], ...web.network, delay: '300ms' });
    const ended = await temporal('workflow', 'result', '--workflow-id', 'my-crawl');
    expect(ended).toMatchObject({ status: 'COMPLETED', result: counts });
    // Each page, the flaky one twice, and robots.txt.
    expect(web.arrivals).toHaveLength(PAGES + 1 + 1 + 1);
  });

  test('answers the progress query', async () => {
    const answer = await temporal('workflow', 'query', '--workflow-id', 'my-crawl', '--type', 'progress');
    expect(answer).toMatchObject({ queryResult: [{ ...counts, asOf: expect.any(String) }] });
  });

  test('lists the crawl, a workflow per page and one throttle per domain', async () => {
    const types = (await listWorkflows()).map(({ type }) => type.name);
    const pages = Array.from({ length: PAGES + 1 }, () => 'CrawlPage');
    expect(types.toSorted()).toEqual(['Crawl', ...pages, 'DomainThrottle']);
  });

  test('is found by its domain, and every query of the README is accepted', async () => {
    const queries = [...README.matchAll(/^temporal workflow (?:list|count) --query '(.+?)'/gm)];
    expect(queries).toHaveLength(3);
    const [[, ofDomain = ''] = []] = queries;
    const here = ofDomain.replace('example.org', web.name('shop')).replace('Running', 'Completed');
    expect(await temporal('workflow', 'count', '--query', here)).toMatchObject({ count: String(PAGES + 1) });
    for (const [, query = ''] of queries) await temporal('workflow', 'count', '--query', query);
  });

  test('has a summary on every activity and timer', async () => {
    const steps = (await Promise.all((await listWorkflows()).map(readSteps))).flat();
    expect(steps.filter(({ summary }) => summary === null)).toEqual([]);
    const summaries = steps.map(({ summary }) => summary);
    expect(summaries).toContain(`slot for ${web.name('shop')}`);
    expect(summaries).toContain(`fetch ${web.url('shop', '/1')}`);
    expect(summaries).toContain(`parse and record ${web.url('shop', '/1')}`);
    expect(summaries).toContainEqual(expect.stringMatching(/^record \w+ for /));
    expect(summaries).toContainEqual(expect.stringMatching(/^retry 2 of 3\b.* in \d/));
  });
});

describe('the throttle of a domain with the stock Temporal CLI', () => {
  const update = (name: string, ...input: string[]) =>
    temporal(
      ...['workflow', 'update', 'execute', '--workflow-id', `throttle:${web.name('shop')}`, '--name', name],
      ...input.flatMap((json) => ['--input', json]),
    );

  test('accepts pause, resume, delay and reset, and answers with its state', async () => {
    expect(await update('pause')).toMatchObject({ result: { phase: 'paused' } });
    expect(await update('resume')).toMatchObject({ result: { phase: 'open' } });
    const thirty = { minMs: 30_000, maxMs: 30_000 };
    expect(await update('setDelay', '"30s"')).toMatchObject({ result: { operatorDelay: thirty } });
    const range = { minMs: 5_000, maxMs: 15_000 };
    expect(await update('setDelay', '"5s-15s"')).toMatchObject({ result: { operatorDelay: range } });
    expect(await update('setDelay', JSON.stringify(thirty))).toMatchObject({
      result: { operatorDelay: thirty },
    });
    expect(await update('setDelay', 'null')).toMatchObject({ result: { operatorDelay: null } });
    await update('setDelay', '"30s"');
    expect(await update('reset')).toMatchObject({ result: { operatorDelay: null, backoffMs: 0 } });
  });

  test('refuses a bad delay with the reason', async () => {
    await expect(update('setDelay', '"soon"')).rejects.toMatchObject({
      // Quoted once more by the CLI's log.
      stderr: expect.stringMatching(/The delay .*soon.* is invalid: use a duration such as /),
    });
  });
});

describe('a running crawl', () => {
  const update = (name: string, ...input: string[]) =>
    temporal(
      ...['workflow', 'update', 'execute', '--workflow-id', 'steered', '--name', name],
      ...input.flatMap((json) => ['--input', json]),
    );

  test('is paused, resumed and cancelled with the stock Temporal CLI', async () => {
    await startCrawl('steered', { seeds: [web.url('shop')], ...web.network, delay: '1h' });
    const reason = '{"reason":"the owner asked"}';
    expect(await update('pause', reason)).toMatchObject({ result: { crawlId: 'steered', status: 'Paused' } });
    expect(await update('resume')).toMatchObject({ result: { status: 'Running' } });
    expect(await update('cancel')).toMatchObject({ result: { status: 'Cancelling' } });
    const ended = await temporal('workflow', 'result', '--workflow-id', 'steered');
    expect(ended).toMatchObject({ status: 'COMPLETED', result: { found: 1, pages: { Cancelled: 1 } } });
    const { stdout } = await amble.run('orders', '--crawl', 'steered', '--json');
    expect(JSON.parse(stdout)).toMatchObject([
      { kind: 'cancel', channel: 'temporal', reason: null },
      { kind: 'resume', channel: 'temporal' },
      { kind: 'pause', channel: 'temporal', by: null, reason: 'the owner asked' },
    ]);
  });
});

test.each<[id: string, input: unknown, sentence: RegExp]>([
  ['bad-seed', { seeds: ['nonsense'] }, /The seed "nonsense" is not a URL/],
  ['bad-delay', { seeds: ['https://example.org/'], delay: 'soon' }, /"delay" in the crawl's input is "soon"/],
  ['bad-key', { seeds: ['https://example.org/'], dely: '1s' }, /dely/],
  ['no-object', 'https://example.org/', /must be one JSON object/],
  ['a bad id', { seeds: ['https://example.org/'] }, /The workflow id "a bad id" cannot name a crawl/],
])('%s fails the workflow at once, and the failure says what is wrong', async (id, input, sentence) => {
  await startCrawl(id, input);
  const { closeEvent } = await failureOf(id);
  expect(closeEvent.workflowExecutionFailedEventAttributes.failure.message).toMatch(sentence);
});

const Failed = z.object({
  status: z.literal('FAILED'),
  closeEvent: z.object({
    workflowExecutionFailedEventAttributes: z.object({ failure: z.object({ message: z.string() }) }),
  }),
});

/** The CLI itself fails if the workflow has failed. */
async function failureOf(id: string): Promise<z.infer<typeof Failed>> {
  const failed: { stdout: string } = await temporal('workflow', 'result', '--workflow-id', id).then(
    () => Promise.reject(new Error(`The workflow ${id} did not fail.`)),
    (error) => error,
  );
  return Failed.parse(JSON.parse(failed.stdout));
}

const Workflows = z.array(
  z.object({ execution: z.object({ workflowId: z.string() }), type: z.object({ name: z.string() }) }),
);
type Workflow = z.infer<typeof Workflows>[number];

async function listWorkflows(): Promise<Workflow[]> {
  return Workflows.parse(await temporal('workflow', 'list'));
}

const History = z.object({
  events: z.array(
    z.object({
      eventType: z.string(),
      userMetadata: z.object({ summary: z.object({ data: z.base64() }) }).optional(),
    }),
  ),
});

/** What a workflow does or waits for; a marker is an activity that ran beside the workflow. */
const STEPS = [
  'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED',
  'EVENT_TYPE_TIMER_STARTED',
  'EVENT_TYPE_MARKER_RECORDED',
];

async function readSteps({ execution, type }: Workflow) {
  const shown = await temporal('workflow', 'show', '--workflow-id', execution.workflowId);
  return History.parse(shown)
    .events.filter(({ eventType }) => STEPS.includes(eventType))
    .map(({ eventType, userMetadata }) => ({
      workflow: type.name,
      eventType,
      summary: userMetadata ? textIn(userMetadata.summary.data) : null,
    }));
}

function textIn(base64: string): unknown {
  return JSON.parse(Buffer.from(base64, 'base64').toString('utf8'));
}
