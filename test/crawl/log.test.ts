/** The log of a real worker, at its most talkative. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { messageOf } from '../../src/core/errors.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';
import { type AmbleProcess, startAmbleProcess } from '../support/worker-process.ts';

const PLANTED = { variable: 'planted/key"1', url: 'planted-password', setting: 'planted-server-token' };
const INFO = 30;

const Line = z.looseObject({ level: z.number(), msg: z.string() });

let amble: AmbleProcess;
let web: TestWeb;
let log: string;
let lines: z.infer<typeof Line>[];

beforeAll(async () => {
  web = await startWeb({
    site: (path) => {
      if (path === '/')
        return {
          body: links(
            '/1',
            '/2',
            '/gone',
            `/?key=${encodeURIComponent(PLANTED.variable)}`,
            `/?key=${PLANTED.setting}`,
          ),
        };
      if (path === '/2')
        return {
          status: 301,
          headers: { location: web.url('site', '/gone').replace('//', `//u:${PLANTED.url}@`) },
        };
      if (path === '/1') return { status: 503, headers: { 'retry-after': '3600' } };
      return path.startsWith('/?key') ? { body: 'echo' } : undefined;
    },
  });
  amble = await startAmbleProcess({
    settings: { maxRetryAfter: '50ms', serverToken: PLANTED.setting },
    tuning: { crawl: { sweepIntervalMs: 300 } },
    env: { AMBLE_LOG_LEVEL: 'trace', AWS_SECRET_ACCESS_KEY: PLANTED.variable },
  });
  const retry = { initialInterval: '100ms', maximumAttempts: 2 };
  await amble.crawl({ seeds: [web.url('site')], ...web.network, delay: '20ms', retry });
  log = amble.worker.output().stderr;
  // Every line is one, also what the command itself has to say.
  lines = log
    .trimEnd()
    .split('\n')
    .map((line) => Line.parse(JSON.parse(line)));
}, 120_000);

afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

test('a page is one line at info level, which says what it is about', async () => {
  const ended = lines.filter(({ level, msg }) => level === INFO && msg === 'page ended');
  const pages = await amble.db.page.findMany({ orderBy: { id: 'asc' } });
  const byPage = ended.toSorted((one, other) => Number(one.pageId) - Number(other.pageId));
  expect(byPage.map(({ pageId, status }) => [pageId, status])).toEqual(
    pages.map(({ id, status }) => [String(id), status]),
  );
  for (const line of ended)
    expect(line).toMatchObject({
      crawlId: pages[0]?.crawlId,
      domain: expect.stringMatching(/\.test$/),
      attempt: expect.any(Number),
      workflowId: expect.stringMatching(`^page:${pages[0]?.crawlId}:`),
    });
  expect(lines.filter(({ level, pageId }) => level === INFO && pageId !== undefined)).toHaveLength(
    pages.length,
  );
});

test('what a fetch logs says which page and which attempt of it', async () => {
  const warnings = lines.filter(({ msg }) => msg.startsWith('Retry-After is above maxRetryAfter'));
  expect(warnings.map(({ attempt }) => attempt)).toEqual([1, 2]);
  const page = await amble.db.page.findFirstOrThrow({ where: { url: web.url('site', '/1') } });
  for (const line of warnings)
    expect(line).toMatchObject({
      crawlId: page.crawlId,
      pageId: String(page.id),
      url: page.url,
      domain: page.domain,
      workflowId: expect.stringMatching(`^page:${page.crawlId}:`),
    });
});

test('no secret is in the log, neither of the environment, of a URL, nor of the settings', async () => {
  const inDatabase = await amble.db.page.findMany({ where: { url: { contains: 'key=' } } });
  expect(inDatabase, 'the secrets were in URLs').toHaveLength(2);
  expect(log).toContain('[redacted]');
  const secrets = [
    PLANTED.variable,
    encodeURIComponent(PLANTED.variable),
    PLANTED.url,
    PLANTED.setting,
    amble.databasePassword,
  ];
  expect(secrets.filter((secret) => secret === '' || log.includes(secret))).toEqual([]);
});

test('a warning of Node, such as one that pg causes, is a line of the log too', async () => {
  const DATABASE_URL = 'postgresql://amble@127.0.0.1:1/amble?sslmode=require';
  const failed = await startAmbleProcess({ env: { DATABASE_URL } }).then(() => '', messageOf);
  const [, ...written] = failed.trimEnd().split('\n');
  const messages = written.map((line) => Line.parse(JSON.parse(line)).msg);
  expect(messages).toEqual([
    expect.stringContaining('sslmode'),
    expect.stringContaining('correct DATABASE_URL'),
  ]);
});
