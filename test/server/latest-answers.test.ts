import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { type AskThrottles, ThrottleViews } from '../../src/server/throttle-views.ts';
import { newThrottle } from '../../src/throttle/state.ts';
import { view } from '../../src/throttle/view.ts';

const { throttle } = loadConfig({ env: {}, cwd: tmpdir(), flags: {} });
const viewOf = (domain: string) => view(newThrottle(domain, throttle), 0);

/** Throttles that answer at once, and note who asked. */
function countingThrottles(): { ask: AskThrottles; asked: string[] } {
  const asked: string[] = [];
  const ask: AskThrottles = async (domains, onView) => {
    asked.push(...domains);
    for (const domain of domains) onView(domain, viewOf(domain));
    return new Map(domains.map((domain) => [domain, viewOf(domain)]));
  };
  return { ask, asked };
}

test('many readers ask each throttle once', async () => {
  const views = new ThrottleViews();
  const { ask, asked } = countingThrottles();
  const read = await Promise.all(Array.from({ length: 50 }, () => views.read(['a.test', 'b.test'], ask)));
  expect(read.every((found) => found.size === 2)).toBe(true);
  await views.read(['a.test'], ask);
  expect(asked).toEqual(['a.test', 'b.test']);
});

test('a throttle is asked again after an order', async () => {
  const views = new ThrottleViews();
  const { ask, asked } = countingThrottles();
  await views.read(['a.test', 'b.test'], ask);
  views.forget('a.test');
  await views.read(['a.test', 'b.test'], ask);
  expect(asked).toEqual(['a.test', 'b.test', 'a.test']);
});

test('a reader does not wait for throttles that are long in answering, and gets what has come', async () => {
  const views = new ThrottleViews();
  const slowly: AskThrottles = (_, onView) => {
    onView('quick.test', viewOf('quick.test'));
    return new Promise(() => {});
  };
  expect([...(await views.read(['quick.test', 'slow.test'], slowly)).keys()]).toEqual(['quick.test']);
});

test('a throttle that is not running is told from one that has not answered', async () => {
  const views = new ThrottleViews();
  const nobody: AskThrottles = async () => new Map();
  expect(await views.read(['idle.test'], nobody)).toEqual(new Map([['idle.test', null]]));
  const away: AskThrottles = async () => null;
  expect(await new ThrottleViews().read(['unknown.test'], away)).toEqual(new Map());
});
