import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { nextSlotAt } from '../../src/throttle/view.ts';
import { stateQuery } from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { testEngines } from '../support/engines.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';
import { type Run, runAmble } from './run-amble.ts';
import { runInProcess } from './run-in-process.ts';

/** Every call of `program` starts a process, which takes seconds on a busy machine. */
vi.setConfig({ testTimeout: 240_000 });

let amble: Amble;
let web: TestWeb;
let cwd: string;

const WINDOW = 5;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'amble-cli-'));
  amble = await startAmble({ tuning: { crawl: { window: WINDOW, longWaitMs: 1_000 } } });
  web = await startWeb({
    slow: flatSite(5),
    brisk: flatSite(12),
    crowd: flatSite(WINDOW + 2),
    down: (path) => (path === '/robots.txt' ? undefined : { status: 503 }),
    mute: () => ({ status: 503 }),
    moved: (path) =>
      path === '/robots.txt'
        ? { status: 302, headers: { location: web.url('held', '/robots.txt') } }
        : undefined,
    held: () => ({ body: 'User-agent: *' }),
  });
});

afterAll(async () => {
  await amble?.stop();
  await web?.stop();
  rmSync(cwd, { recursive: true, force: true });
});

/** Nobody serves it. */
const unserved = () => ({ AMBLE_TASK_QUEUE: `${amble.config.taskQueue}-nobody` });

/** The real program: each command at least once, and what may start a worker. */
function program(...args: string[]): Promise<Run> {
  return runAmble(args, place());
}

/** The same command line in this process. */
function commandLine(...args: string[]): Promise<Run> {
  return runInProcess(args, place());
}

function commandLineWith(env: Record<string, string>, ...args: string[]): Promise<Run> {
  return runInProcess(args, place(env));
}

/** On the engines and the task queue of this test. */
function place(env: Record<string, string> = {}) {
  const { temporalAddress, namespace } = testEngines();
  return {
    cwd,
    env: {
      DATABASE_URL: amble.databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      TEMPORAL_NAMESPACE: namespace,
      AMBLE_TASK_QUEUE: amble.config.taskQueue,
      ...env,
    },
  };
}

/** What every command says that uses a Temporal server. */
function joined(): string {
  const { temporalAddress, namespace } = testEngines();
  return `Using Temporal at ${temporalAddress}, namespace ${namespace}.\n`;
}

/** robots.txt has been fetched, the next slot is in an hour, and the other pages wait. */
async function startQueuedCrawl(id: string): Promise<void> {
  const seeds = ['/1', '/2', '/3', '/4', '/5'].map((path) => web.url('slow', path));
  await amble.start({ seeds, ...web.network, delay: '1h' }, id);
  await expect.poll(() => web.arrivalsAt('slow', '/robots.txt').length, { timeout: 60_000 }).toBe(1);
  const pages = async () => {
    const { reserved, waiting } = await amble.client.workflow
      .getHandle(`throttle:${web.name('slow')}`)
      .query(stateQuery);
    return { reserved, waiting };
  };
  await expect.poll(pages, { timeout: 60_000 }).toEqual({ reserved: 1, waiting: seeds.length - 1 });
}

describe('a domain', () => {
  test('is shown, paused, slowed down and reset; a page shows when its slot is', async () => {
    const domain = web.name('slow');
    await startQueuedCrawl('slow');

    const shown = await program('domain', 'show', domain);
    expect(shown).toMatchObject({ code: 0, stderr: joined() });
    expect(shown.stdout).toMatch(new RegExp(`^${domain}: open$`, 'm'));
    expect(shown.stdout).toMatch(/^ {2}Gap +1 h \(the crawl's delay\)$/m);
    expect(shown.stdout).toMatch(/^ {2}Reserved +1 slot; the next one in (59 min|1 h)$/m);
    expect(shown.stdout).toMatch(/^ +page:slow:.*, at \d/m);
    expect(shown.stdout).toMatch(/^ {2}Waiting +4 pages without a slot$/m);

    const page = await program('page', web.url('slow', '/5'));
    expect(page.stdout).toMatch(
      /Now +Queued: (its slot of .* is at .*|\d(st|nd|rd|th) of 4 that wait for a slot of .*; it asks again in .*); the gap is 1 h because of the crawl's delay\./,
    );

    const paused = await program('domain', 'pause', domain.toUpperCase(), '--reason', 'the owner asked');
    expect(paused).toMatchObject({ code: 0, stdout: expect.stringMatching(/: paused$/m) });
    expect(await amble.db.domain.findUniqueOrThrow({ where: { name: domain } })).toMatchObject({
      paused: true,
    });
    const held = await commandLine('page', web.url('slow', '/5'), '--crawl', 'slow');
    expect(held.stdout).toMatch(/is paused by \S+ \(cli\): the owner asked\./);
    expect(JSON.parse((await commandLine('status', 'slow', '--json')).stdout)).toMatchObject({
      domains: [{ domain, found: 5, open: 5, paused: true }],
    });

    const refused = await commandLine('domain', 'delay', domain, 'soon');
    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^amble: Invalid delay "soon": .*\n$/),
    });
    const slowed = await program('domain', 'delay', domain, '2h', '--json');
    expect(JSON.parse(slowed.stdout)).toMatchObject({
      live: { phase: 'paused', gapMs: 7_200_000, gapReason: 'operator' },
      known: { stored: { paused: true, delay: { minMs: 7_200_000, maxMs: 7_200_000 } } },
    });
    expect((await commandLine('domain', 'list')).stdout).toMatch(
      new RegExp(`^${domain} +paused +2 h +the delay set for the domain +0 +5 `, 'm'),
    );

    const reset = await program('domain', 'reset', domain);
    expect(reset.stdout).toMatch(/: open$/m);
    expect(reset.stdout).toMatch(/^ {2}Delay set +none$/m);
    await amble.client.workflow.getHandle('slow').cancel();
  });

  test('that no crawl has requested yet can be paused; its throttle is started for that', async () => {
    const { code, stderr, stdout } = await program('domain', 'pause', 'unmet.test');
    expect({ code, stdout: stdout.split('\n')[0] }).toEqual({ code: 0, stdout: 'unmet.test: paused' });
    expect(stderr).toContain(
      'No crawl has requested anything from it yet; the change applies when one does.',
    );
    await amble.client.workflow.getHandle('throttle:unmet.test').terminate('lost');
    const shown = await commandLine('domain', 'show', 'unmet.test');
    expect(shown.stdout).toMatch(/^unmet\.test: paused$/m);
    expect(shown.stdout).toMatch(
      /As stored at .*; its throttle is not running, or no worker answers for it\./,
    );
    expect((await program('domain', 'resume', 'unmet.test')).stdout).toMatch(/^unmet\.test: open$/m);
  });

  test('is refused if another politeness key is set than the one that the database was set up with', async () => {
    expect(await program('domain', 'pause', 'www.example.org')).toMatchObject({ code: 0 });
    for (const command of ['pause', 'show'])
      expect(
        await commandLineWith({ AMBLE_POLITENESS_KEY: 'site' }, 'domain', command, 'www.example.org'),
      ).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(
          'politenessKey is set to "site", but this database was set up with "host"',
        ),
      });
  });

  test('is paused, and shown as paused, without a running worker', async () => {
    const paused = await runAmble(['domain', 'pause', 'unattended.test'], place(unserved()));
    expect(paused).toMatchObject({ code: 0, stdout: expect.stringMatching(/^unattended\.test: paused$/m) });
    const shown = await commandLineWith(unserved(), 'domain', 'show', 'unattended.test');
    expect(shown).toMatchObject({ code: 0, stderr: joined() });
    expect(shown.stdout).toMatch(/^unattended\.test: paused$/m);
    expect(shown.stdout).toMatch(/its throttle is not running, or no worker answers for it/);
  }, 60_000);

  test.each(['a.test/path', 'a.test:8080', ''])('with an invalid name is refused: %j', async (name) => {
    expect(await commandLine('domain', 'show', name)).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/Invalid domain .*: give a host name/),
    });
  });
});

describe('a crawl', () => {
  test('is paused and resumed by its id, and its status shows it', async () => {
    await amble.start({ seeds: [web.url('brisk')], ...web.network, delay: '500ms' }, 'brisk');
    await expect.poll(() => web.arrivalsAt('brisk').length, { timeout: 60_000 }).toBeGreaterThan(0);
    const paused = await program('pause', 'brisk', '--reason', 'too fast');
    expect(paused.stdout).toMatch(/^Crawl brisk is paused/);
    const inProgress = () => amble.db.page.count({ where: { crawlId: 'brisk', status: 'Queued' } });
    await expect.poll(inProgress, { timeout: 60_000 }).toBe(0);
    expect((await commandLine('status')).stdout).toMatch(/^brisk +Paused /m);
    expect((await commandLine('status', 'brisk')).stdout).toMatch(
      /^Crawl brisk is paused, started .*\nPaused by \S+ \(cli\): too fast\.\nTo resume it: amble resume brisk$/m,
    );
    const waiting = await amble.db.page.findFirstOrThrow({ where: { crawlId: 'brisk', status: 'Pending' } });
    expect((await commandLine('page', waiting.url)).stdout).toMatch(
      /Now +Pending: the crawl is paused by \S+ \(cli\): too fast\./,
    );

    expect((await program('resume', 'brisk')).stdout).toBe('Crawl brisk is resumed.\n');
    expect((await commandLine('orders', '--crawl', 'brisk')).stdout).toMatch(
      /^Time .*\n.*\n\S+ +resume +brisk .* cli +Paused → Running\n\S+ +pause +brisk .* Running → Paused +too fast\n$/,
    );
    expect(await amble.client.workflow.getHandle('brisk').result()).toMatchObject({ pages: { Fetched: 13 } });
    expect(await commandLine('pause', 'brisk')).toMatchObject({
      code: 2,
      stderr: `${joined()}amble: Crawl brisk is Completed; only an unfinished crawl can be paused.\n`,
    });
    const shown = await commandLine('page', web.url('brisk', '/3'));
    expect(shown.stdout).toMatch(/Now +Fetched: status 200 at \d\d:\d\d:\d\d, "Page 3"\./);
    expect(shown.stdout).toMatch(/^ {2}1 of 3 +\d\d:\d\d:\d\d +.* 200 +Success$/m);
  });

  test('with a failed page shows its attempts and when the next one is', async () => {
    await amble.start(
      { seeds: [web.url('down')], ...web.network, delay: '10ms', retry: { initialInterval: '1h' } },
      'down',
    );
    const waitingPages = () => amble.db.page.count({ where: { crawlId: 'down', status: 'Waiting' } });
    await expect.poll(waitingPages, { timeout: 60_000 }).toBe(1);
    const { stdout } = await commandLine('page', web.url('down'));
    expect(stdout).toMatch(
      /Now +Waiting: attempt 2 of 3 at [\d: -]+ \(in 1 h\), after attempt 1 of 3: Status 503\./,
    );
    expect(stdout).toMatch(/^ {2}1 of 3 .* 503 +Blocked5xx +[\d: -]+ \(1 h later\) +Status 503\.$/m);
    const { stdout: json } = await commandLine('page', web.url('down'), '--json');
    expect(JSON.parse(json)).toMatchObject({
      crawl: { id: 'down', status: 'Running', maximumAttempts: 3 },
      page: { url: web.url('down'), status: 'Waiting' },
      attempts: [{ attempt: 1, outcome: 'Blocked5xx', statusCode: 503 }],
    });
    await amble.client.workflow.getHandle('down').cancel();
  });

  test('excludes URLs while it runs, after a preview', async () => {
    const pages = ['/1', '/2', '/3', '/4', '/5', '/6', '/x1', '/x2'].map((path) => web.url('slow', path));
    await amble.start({ seeds: pages, ...web.network, delay: '1h' }, 'narrowed');
    const pending = () => amble.db.page.count({ where: { crawlId: 'narrowed', status: 'Pending' } });
    await expect.poll(pending, { timeout: 60_000 }).toBe(pages.length - WINDOW);
    expect((await commandLine('exclude', 'narrowed', '/x*', '--preview')).stdout).toBe(
      `This would reject 2 of 3 pending pages.\n  ${web.url('slow', '/x1')}\n  ${web.url('slow', '/x2')}\n`,
    );
    expect((await program('exclude', 'narrowed', '/x*')).stdout).toBe(
      '2 pending pages of crawl narrowed rejected; further links that match are skipped.\n',
    );
    expect(await commandLine('exclude', 'narrowed', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^amble: Invalid pattern "x": give a path such as /),
    });
    await amble.client.workflow.getHandle('narrowed').cancel();
  });

  test('that has ended continues with its failed pages', async () => {
    const once = { ...web.network, delay: '10ms', retry: { maximumAttempts: 1 } };
    const { crawlId } = await amble.crawl({ seeds: [web.url('down')], ...once });
    expect((await commandLine('retry', crawlId, '--cause', 'status/503', '--preview')).stdout).toBe(
      `1 failed page of crawl ${crawlId} would be retried.\n  ${web.url('down')}  Status 503.\n`,
    );
    expect((await commandLine('retry', crawlId, '--cause', 'dns')).stdout).toBe(
      `Crawl ${crawlId} has no such failed pages.\n`,
    );
    expect((await program('retry', crawlId, '--reason', 'repaired')).stdout).toMatch(
      /^1 failed page of crawl .* is queued again\.\nTo see how far they are: amble status /,
    );
    await amble.client.workflow.getHandle(crawlId).result();
    expect((await commandLine('status', crawlId)).stdout).toMatch(
      /^Retry at \S+: 1 of 1 page done \(1 Failed\)\.$/m,
    );
    const { stdout } = await commandLine('page', web.url('down'), '--crawl', crawlId);
    expect(stdout).toMatch(/^ {2}2 of 2 .* 503 +Blocked5xx/m);
  });

  test('shows what a pending page waits for, and on resume that no worker is running', async () => {
    const seeds = Array.from({ length: WINDOW + 2 }, (_, n) => web.url('crowd', `/${n + 1}`));
    await program('domain', 'pause', web.name('crowd'));
    const crawl = { seeds, ...web.network, delay: '1h' };
    await amble.start(crawl, 'crowd');
    await amble.start({ ...crawl, maxPages: 1 }, 'frugal');
    const inProgress = () =>
      amble.db.page.count({ where: { crawlId: { in: ['crowd', 'frugal'] }, status: 'Queued' } });
    await expect.poll(inProgress, { timeout: 60_000 }).toBe(WINDOW + 1);

    const last = web.url('crowd', `/${WINDOW + 2}`);
    const ofDomain = await commandLine('page', last, '--crawl', 'crowd');
    expect(ofDomain.stdout).toContain(
      `Pending: behind 1 other page; ${WINDOW} of at most ${WINDOW} pages of ${web.name('crowd')} are in progress; the domain is paused by ${userInfo().username} (cli).\n`,
    );
    const { stdout } = await commandLine('page', last, '--crawl', 'crowd', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      page: { status: 'Pending' },
      slot: null,
      domain: { live: { phase: 'paused' }, known: { stored: { paused: true } } },
      active: true,
    });
    const ofBudget = await commandLine('page', last, '--crawl', 'frugal');
    expect(ofBudget.stdout).toContain(
      "Pending: the crawl's budget is used up (maxPages: 1); the page starts only if",
    );
    const unattended = await commandLineWith(unserved(), 'page', last, '--crawl', 'crowd');
    expect(unattended.stdout).toContain('The crawl is stalled: no worker is running.\n');
    const resumed = await commandLineWith(unserved(), 'resume', 'crowd');
    expect(resumed.stdout).toBe(
      'Crawl crowd is resumed.\nIt is stalled: no worker is running. To continue it: amble crawl --id crowd\n',
    );
    for (const id of ['crowd', 'frugal']) await amble.client.workflow.getHandle(id).cancel();
  });

  test('whose robots.txt is unavailable shows that its pages wait for it', async () => {
    await amble.start({ seeds: [web.url('mute')], ...web.network, delay: '10ms' }, 'mute');
    const waitingPages = () => amble.db.page.count({ where: { crawlId: 'mute', status: 'Waiting' } });
    await expect.poll(waitingPages, { timeout: 60_000 }).toBe(1);
    const { stdout } = await commandLine('page', web.url('mute'));
    expect(stdout).toMatch(/Now +Waiting: next attempt at .*: robots\.txt of http:.* answered 503\./);
    expect(stdout).toMatch(/Attempts +none yet/);
    await amble.client.workflow.getHandle('mute').cancel();
  });

  test('whose robots.txt is redirected shows the slot of the other domain', async () => {
    await amble.crawl({ seeds: [web.url('held')], ...web.network });
    await program('domain', 'delay', web.name('held'), '50s');
    const asked = Date.now();
    await amble.start({ seeds: [web.url('moved')], ...web.network }, 'moved');
    const held = amble.client.workflow.getHandle(`throttle:${web.name('held')}`);
    const nextSlot = async () => nextSlotAt(await held.query(stateQuery), new Date(asked));
    await expect.poll(nextSlot, { timeout: 40_000 }).toBeGreaterThan(asked);
    const { stdout } = await commandLine('page', web.url('moved'));
    expect(stdout).toContain(
      `Queued: for its robots.txt, redirected to ${web.url('held', '/robots.txt')}: its slot of ${web.name('held')} is at `,
    );
    await amble.client.workflow.getHandle('moved').cancel();
  });

  test('without a workflow is stalled though a worker runs: lost by Temporal, or terminated', async () => {
    await amble.db.crawl.create({ data: { id: 'lost', seeds: [], settings: {}, scopeHosts: [] } });
    await amble.start({ seeds: [web.url('slow')], ...web.network, delay: '1h' }, 'terminated');
    const opened = () => amble.db.crawl.count({ where: { id: 'terminated' } });
    await expect.poll(opened, { timeout: 60_000 }).toBe(1);
    expect(JSON.parse((await commandLine('status', 'terminated', '--json')).stdout)).toMatchObject({
      active: true,
    });
    await amble.client.workflow.getHandle('terminated').terminate('by hand');

    const listed = await commandLine('status');
    for (const id of ['lost', 'terminated'])
      expect(listed.stdout).toMatch(new RegExp(`^${id} +Running \\(stalled\\) `, 'm'));
    expect((await commandLine('status', 'lost')).stdout).toContain(
      'It is stalled: the Temporal server has no workflow for it. To continue it: amble crawl --id lost',
    );
    const { stdout } = await commandLine('status', 'terminated');
    expect(stdout).toMatch(/^Crawl terminated is unfinished \(Running\)/m);
    expect(stdout).toContain(
      'It is stalled: its workflow is terminated. To continue it: amble crawl --id terminated',
    );
    await amble.db.crawl.delete({ where: { id: 'lost' } });
  });

  test('that does not exist is one sentence and exit code 2', async () => {
    for (const command of ['pause', 'resume', 'verify']) {
      expect(await commandLine(command, 'nobody')).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(
          /^amble: There is no crawl named nobody; "amble status" lists them\.$/m,
        ),
      });
    }
    expect(await commandLine('page', 'http://nobody.test/')).toMatchObject({
      code: 2,
      stderr: `${joined()}amble: No crawl on record has found http://nobody.test/; start one with "amble crawl http://nobody.test/".\n`,
    });
  });
});

test('everything is stopped and resumed, and every report says so meanwhile', async () => {
  const stopped = await program('stop-all', '--reason', 'a complaint');
  expect(stopped).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Everything is stopped: /) });
  const { stdout, stderr } = await commandLine('status');
  expect(stderr).toMatch(
    /^Everything was stopped at \S+ by \S+ \(cli\): a complaint\. No request is sent\.$/m,
  );
  expect(stderr).toMatch(/^To resume: amble resume-all$/m);
  expect(stdout).toMatch(/^Crawl /);
  expect(await program('resume-all')).toMatchObject({ code: 0 });
  expect(await commandLine('resume-all')).toMatchObject({
    code: 2,
    stderr: `${joined()}amble: Nothing is stopped.\n`,
  });
  expect((await commandLine('status')).stderr).not.toContain('stopped');
});
