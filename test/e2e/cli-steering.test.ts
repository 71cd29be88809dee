import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { stateQuery } from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { testEngines } from '../support/engines.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';
import { runAmble } from './run-amble.ts';

/** Every call is a process of its own, and a busy machine starts one in seconds. */
vi.setConfig({ testTimeout: 240_000 });

let amble: Amble;
let web: TestWeb;
let cwd: string;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'amble-cli-'));
  amble = await startAmble();
  web = await startWeb({
    slow: flatSite(5),
    brisk: flatSite(12),
    crowd: flatSite(3),
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

/** On the engines and the task queue of this test. */
function program(...args: string[]) {
  return programWith({}, ...args);
}

function programOn(taskQueue: string, ...args: string[]) {
  return programWith({ AMBLE_TASK_QUEUE: taskQueue }, ...args);
}

function programWith(env: Record<string, string>, ...args: string[]) {
  const { temporalAddress, namespace } = testEngines();
  return runAmble(args, {
    cwd,
    env: {
      DATABASE_URL: amble.databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      TEMPORAL_NAMESPACE: namespace,
      AMBLE_TASK_QUEUE: amble.config.taskQueue,
      ...env,
    },
  });
}

/** robots.txt has been asked for, and everything else stands in line for an hour. */
async function startCrawlInLine(id: string): Promise<void> {
  const seeds = ['/1', '/2', '/3', '/4', '/5'].map((path) => web.url('slow', path));
  await amble.start({ seeds, ...web.network, delay: '1h', window: seeds.length }, id);
  await expect.poll(() => web.arrivalsAt('slow', '/robots.txt').length, { timeout: 60_000 }).toBe(1);
  const inLine = async () => {
    const { waiting } = await amble.client.workflow
      .getHandle(`throttle:${web.name('slow')}`)
      .query(stateQuery);
    return waiting;
  };
  await expect.poll(inLine, { timeout: 60_000 }).toBe(seeds.length);
}

describe('a domain with pages in line', () => {
  test('is shown, held, slowed down and let go; a page in line says where it stands', async () => {
    const domain = web.name('slow');
    await startCrawlInLine('slow');

    const shown = await program('domain', 'show', domain);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(new RegExp(`^${domain}: open$`, 'm'));
    expect(shown.stdout).toMatch(/^ {2}Gap +1 h, because of the crawl's delay$/m);
    expect(shown.stdout).toMatch(/^ {2}In line +5 pages; next slot in (59|60) min$/m);
    expect(shown.stdout).toMatch(/^ +1\. page:slow:/m);

    const page = await program('page', web.url('slow', '/5'));
    expect(page.stdout).toMatch(
      /Now +Queued: \d(st|nd|rd|th) of 5 in line for a slot of .*, expected in .*; the gap is 1 h, because of the crawl's delay\./,
    );

    const paused = await program('domain', 'pause', domain.toUpperCase());
    expect(paused).toMatchObject({ code: 0, stdout: expect.stringMatching(/: paused$/m) });
    expect(await amble.db.domain.findUniqueOrThrow({ where: { name: domain } })).toMatchObject({
      paused: true,
    });
    const held = await program('page', web.url('slow', '/5'), '--crawl', 'slow');
    expect(held.stdout).toMatch(/in line for a slot of .*, which is paused by an operator\./);
    expect(JSON.parse((await program('status', 'slow', '--json')).stdout)).toMatchObject({
      domains: [{ domain, found: 5, open: 5, paused: true }],
    });

    const refused = await program('domain', 'delay', domain, 'soon');
    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^amble: The delay "soon" is refused: .*\n$/),
    });
    const slowed = await program('domain', 'delay', domain, '2h', '--json');
    expect(JSON.parse(slowed.stdout)).toMatchObject({
      live: { phase: 'paused', gapMs: 7_200_000, gapReason: 'operator' },
      known: { stored: { paused: true, delay: { minMs: 7_200_000, maxMs: 7_200_000 } } },
    });
    expect((await program('domain', 'list')).stdout).toMatch(
      new RegExp(`^${domain} +paused +2 h +the delay set for it +5 `, 'm'),
    );

    const reset = await program('domain', 'reset', domain);
    expect(reset.stdout).toMatch(/: open$/m);
    expect(reset.stdout).toMatch(/^ {2}Delay set +none$/m);
    await amble.client.workflow.getHandle('slow').cancel();
  });

  test('nobody has met yet is held all the same, and its throttle is started for it', async () => {
    const { code, stderr, stdout } = await program('domain', 'pause', 'unmet.test');
    expect({ code, stdout: stdout.split('\n')[0] }).toEqual({ code: 0, stdout: 'unmet.test: paused' });
    expect(stderr).toContain('No crawl has met it yet; that will hold when one does.');
    await amble.client.workflow.getHandle('throttle:unmet.test').terminate('lost');
    const shown = await program('domain', 'show', 'unmet.test');
    expect(shown.stdout).toMatch(/^unmet\.test: paused$/m);
    expect(shown.stdout).toMatch(
      /Its throttle does not run or has no worker to answer; this was written down at/,
    );
    expect((await program('domain', 'resume', 'unmet.test')).stdout).toMatch(/^unmet\.test: open$/m);
  });

  test('is refused if another politeness key is set than the one that the database was set up with', async () => {
    expect(await program('domain', 'pause', 'www.example.org')).toMatchObject({ code: 0 });
    for (const command of ['pause', 'show'])
      expect(
        await programWith({ AMBLE_POLITENESS_KEY: 'site' }, 'domain', command, 'www.example.org'),
      ).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(
          'politenessKey is set to "site", but this database was set up with "host"',
        ),
      });
  });

  test('is held, and shown as held, though no worker runs', async () => {
    const nobodys = `${amble.config.taskQueue}-nobody`;
    const paused = await programOn(nobodys, 'domain', 'pause', 'unattended.test');
    expect(paused).toMatchObject({ code: 0, stdout: expect.stringMatching(/^unattended\.test: paused$/m) });
    const shown = await programOn(nobodys, 'domain', 'show', 'unattended.test');
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(/^unattended\.test: paused$/m);
    expect(shown.stdout).toMatch(/Its throttle does not run or has no worker to answer/);
  }, 60_000);

  test.each(['a.test/path', 'a.test:8080', ''])('that is none is refused: %j', async (name) => {
    expect(await program('domain', 'show', name)).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/is not a domain: give a host name/),
    });
  });
});

describe('a crawl', () => {
  test('is paused and resumed by name, and its status says so', async () => {
    await amble.start({ seeds: [web.url('brisk')], ...web.network, delay: '1s' }, 'brisk');
    await expect.poll(() => web.arrivalsAt('brisk').length, { timeout: 60_000 }).toBeGreaterThan(0);
    const paused = await program('pause', 'brisk');
    expect(paused.stdout).toMatch(/^Crawl brisk is paused/);
    const underWay = () => amble.db.page.count({ where: { crawlId: 'brisk', status: 'Queued' } });
    await expect.poll(underWay, { timeout: 60_000 }).toBe(0);
    expect((await program('status')).stdout).toMatch(/^brisk +Paused /m);
    expect((await program('status', 'brisk')).stdout).toMatch(
      /^Crawl brisk is paused, for .*\n(.*\n)*To let it go on: amble resume brisk$/m,
    );
    const waiting = await amble.db.page.findFirstOrThrow({ where: { crawlId: 'brisk', status: 'Pending' } });
    expect((await program('page', waiting.url)).stdout).toMatch(/Now +Pending: the crawl is paused\./);

    expect((await program('resume', 'brisk')).stdout).toBe('Crawl brisk is resumed.\n');
    expect(await amble.client.workflow.getHandle('brisk').result()).toMatchObject({ pages: { Fetched: 13 } });
    expect(await program('pause', 'brisk')).toMatchObject({
      code: 2,
      stderr: 'amble: Crawl brisk is Completed: only a crawl that runs can be paused.\n',
    });
    const shown = await program('page', web.url('brisk', '/3'));
    expect(shown.stdout).toMatch(/Now +Fetched: status 200 at \d\d:\d\d:\d\d, "Page 3"\./);
    expect(shown.stdout).toMatch(/^ {2}1 of 3 +\d\d:\d\d:\d\d +.* 200 +Success$/m);
  });

  test('of which a page failed tells when it is tried again, and what was tried', async () => {
    await amble.start(
      { seeds: [web.url('down')], ...web.network, delay: '10ms', retry: { initialInterval: '1h' } },
      'down',
    );
    const asleep = () => amble.db.page.count({ where: { crawlId: 'down', status: 'Waiting' } });
    await expect.poll(asleep, { timeout: 60_000 }).toBe(1);
    const { stdout } = await program('page', web.url('down'));
    expect(stdout).toMatch(
      /Now +Waiting: retry 2 of 3 at [\d: -]+ \(in 1 h\), after attempt 1 of 3: Status 503\./,
    );
    expect(stdout).toMatch(/^ {2}1 of 3 .* 503 +Blocked5xx +[\d: -]+ \(1 h later\) +Status 503\.$/m);
    const { stdout: json } = await program('page', web.url('down'), '--json');
    expect(JSON.parse(json)).toMatchObject({
      crawl: { id: 'down', status: 'Running', maximumAttempts: 3 },
      page: { url: web.url('down'), status: 'Waiting' },
      attempts: [{ attempt: 1, outcome: 'Blocked5xx', statusCode: 503 }],
    });
    await amble.client.workflow.getHandle('down').cancel();
  });

  test('says of a page that has not begun what keeps it, and who resumes it that nobody works on it', async () => {
    const seeds = ['/1', '/2', '/3'].map((path) => web.url('crowd', path));
    await program('domain', 'pause', web.name('crowd'));
    const crawl = { seeds, ...web.network, delay: '1h', window: 1 };
    await amble.start(crawl, 'crowd');
    await amble.start({ ...crawl, maxPages: 1 }, 'frugal');
    const begun = () =>
      amble.db.page.count({ where: { crawlId: { in: ['crowd', 'frugal'] }, status: 'Queued' } });
    await expect.poll(begun, { timeout: 60_000 }).toBe(2);

    const last = web.url('crowd', '/3');
    const ofDomain = await program('page', last, '--crawl', 'crowd');
    expect(ofDomain.stdout).toContain(
      `Pending: behind 1 other; 1 of 1 places of ${web.name('crowd')} are taken; the domain is paused by an operator.\n`,
    );
    const { stdout } = await program('page', last, '--crawl', 'crowd', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      page: { status: 'Pending' },
      where: null,
      domain: { live: { phase: 'paused' }, known: { stored: { paused: true } } },
      atWork: true,
    });
    const ofBudget = await program('page', last, '--crawl', 'frugal');
    expect(ofBudget.stdout).toContain(
      "Pending: the crawl's budget is taken (maxPages: 1); it begins only if",
    );
    const nobodys = `${amble.config.taskQueue}-nobody`;
    const unattended = await programOn(nobodys, 'page', last, '--crawl', 'crowd');
    expect(unattended.stdout).toContain('Nobody works on the crawl: no worker runs.\n');
    const resumed = await programOn(nobodys, 'resume', 'crowd');
    expect(resumed.stdout).toBe(
      'Crawl crowd is resumed.\nNobody works on it now: no worker runs. To go on: amble crawl --id crowd\n',
    );
    for (const id of ['crowd', 'frugal']) await amble.client.workflow.getHandle(id).cancel();
  });

  test('whose site hides its robots.txt says that its pages wait for it', async () => {
    await amble.start({ seeds: [web.url('mute')], ...web.network, delay: '10ms', longWait: '1s' }, 'mute');
    const asleep = () => amble.db.page.count({ where: { crawlId: 'mute', status: 'Waiting' } });
    await expect.poll(asleep, { timeout: 60_000 }).toBe(1);
    const { stdout } = await program('page', web.url('mute'));
    expect(stdout).toMatch(/Now +Waiting: tried again at .*: robots\.txt of http:.* answered 503\./);
    expect(stdout).toMatch(/Attempts +none yet/);
    await amble.client.workflow.getHandle('mute').cancel();
  });

  test('whose robots.txt is redirected says in whose line its page stands for it', async () => {
    await program('domain', 'pause', web.name('held'));
    await amble.start({ seeds: [web.url('moved')], ...web.network }, 'moved');
    const held = amble.client.workflow.getHandle(`throttle:${web.name('held')}`);
    const inLine = async () => (await held.query(stateQuery)).waiting;
    await expect.poll(inLine, { timeout: 60_000 }).toBe(1);
    const { stdout } = await program('page', web.url('moved'));
    expect(stdout).toContain(
      `Queued: first its robots.txt, which leads to ${web.url('held', '/robots.txt')}: 1st of 1 in line for a slot of ${web.name('held')}, which is paused by an operator.`,
    );
    await amble.client.workflow.getHandle('moved').cancel();
  });

  test('that no workflow carries has nobody at work, though a worker runs: lost by Temporal, or terminated', async () => {
    await amble.db.crawl.create({ data: { id: 'lost', seeds: [], settings: {}, scopeHosts: [] } });
    await amble.start({ seeds: [web.url('slow')], ...web.network, delay: '1h' }, 'terminated');
    const opened = () => amble.db.crawl.count({ where: { id: 'terminated' } });
    await expect.poll(opened, { timeout: 60_000 }).toBe(1);
    expect(JSON.parse((await program('status', 'terminated', '--json')).stdout)).toMatchObject({
      atWork: true,
    });
    await amble.client.workflow.getHandle('terminated').terminate('by hand');

    const listed = await program('status');
    for (const id of ['lost', 'terminated'])
      expect(listed.stdout).toMatch(new RegExp(`^${id} +Running, nobody at work `, 'm'));
    expect((await program('status', 'lost')).stdout).toContain(
      'Nobody works on it now: the Temporal server knows nothing of it. To go on: amble crawl --id lost',
    );
    const { stdout } = await program('status', 'terminated');
    expect(stdout).toMatch(/^Crawl terminated is unfinished \(Running\)/m);
    expect(stdout).toContain(
      'Nobody works on it now: its workflow does not run (terminated). To go on: amble crawl --id terminated',
    );
    await amble.db.crawl.delete({ where: { id: 'lost' } });
  });

  test('that does not exist is one sentence and exit code 2', async () => {
    for (const command of ['pause', 'resume', 'verify']) {
      expect(await program(command, 'nobody')).toMatchObject({
        code: 2,
        stderr: 'amble: There is no crawl named nobody; "amble status" lists them.\n',
      });
    }
    expect(await program('page', 'http://nobody.test/')).toMatchObject({
      code: 2,
      stderr: 'amble: No crawl here has met http://nobody.test/.\n',
    });
  });
});
