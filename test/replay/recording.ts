/** The stage on which situations are provoked, one Amble and one web at a time, and how their histories are kept. */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, beforeAll, expect } from 'vitest';
import { pageWorkflowId, throttleId } from '../../workflows/ids.ts';
import type { Amble } from '../support/amble.ts';
import { type Site, startWeb, type TestWeb } from '../support/web.ts';
import { KINDS, type Kind } from './evidence.ts';
import { save } from './fixtures.ts';
import { type History, readHistory, storyOf } from './history.ts';
import { evidenceOf, missingFrom, nameOf, type Situation } from './situations.ts';

export let amble: Amble;
export let web: TestWeb;

/** For all situations of a `describe`. */
export function onAmble(start: () => Promise<Amble>): void {
  beforeAll(async () => {
    amble = await start();
  });
  afterAll(() => amble?.stop());
}

export async function onWeb(
  site: Site,
  provoke: () => Promise<void>,
  others: Record<string, Site> = {},
): Promise<void> {
  web = await startWeb({ site, ...others });
  try {
    await provoke();
  } finally {
    await web.stop();
  }
}

export const input = (...paths: string[]) => ({
  seeds: (paths.length === 0 ? ['/'] : paths).map((path) => web.url('site', path)),
  ...web.network,
});

export const throttle = () => amble.client.workflow.getHandle(throttleId(web.name('site')));

export async function pageHandle(crawlId: string, path: string) {
  const { url, urlHash } = await amble.db.page.findFirstOrThrow({
    where: { crawlId, url: web.url('site', path) },
  });
  const id = pageWorkflowId(crawlId, { url, urlHash: Buffer.from(urlHash).toString('hex') });
  return amble.client.workflow.getHandle(id);
}

export const workflowsOf = async (crawlId: string, path: string) => ({
  crawl: amble.client.workflow.getHandle(crawlId),
  page: await pageHandle(crawlId, path),
  throttle: throttle(),
});

export async function historyOf(workflowId: string, runId?: string): Promise<History> {
  return readHistory(historyToJSON(await amble.client.workflow.getHandle(workflowId, runId).fetchHistory()));
}

export const storyOfThrottle = async () => storyOf(await historyOf(throttle().workflowId));

export const storyOfPage = async (crawlId: string, path: string) =>
  storyOf(await historyOf((await pageHandle(crawlId, path)).workflowId));

export async function keep(situation: Situation, kind: Kind, history: History): Promise<void> {
  const story = storyOf(history);
  const evidence = evidenceOf(situation, kind);
  if (evidence === null) return;
  const missing = missingFrom(story, evidence);
  expect(missing, `${situation}, ${kind}: not there in\n${story.join('\n')}`).toBeNull();
  await save(nameOf(situation, kind), history);
}

export async function keepLastRuns(situation: Situation, crawlId: string, path = '/'): Promise<void> {
  const workflows = await workflowsOf(crawlId, path);
  for (const kind of KINDS) await keep(situation, kind, await historyOf(workflows[kind].workflowId));
}

export async function crawlTo(
  situation: Situation,
  path: string,
  more: Record<string, unknown> = {},
): Promise<void> {
  const { crawlId } = await amble.crawl({ ...input(), ...more });
  await (await pageHandle(crawlId, path)).result();
  await keepLastRuns(situation, crawlId, path);
}
