/**
 * For each change that runs of earlier code must not notice: what they did instead, and that new code would break them without
 * its guard. Where no history was kept of earlier code, it was recorded by today's with that guard decided the old way.
 */
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { load, namesIn, OLD, RECORDED } from './fixtures.ts';
import { storyOf } from './history.ts';
import { decided, patches } from './patches.ts';
import { agreement, type Code, changed, currentCode, objection, replay } from './replaying.ts';
import { missingFrom } from './situations.ts';

let code: Code;
beforeAll(async () => {
  code = await currentCode();
});

/** What new code says on top of what earlier code said, and whoever hears it can do without. */
const ADDED = ['follows'];

it('agrees with new code', async () => {
  const old = namesIn(OLD).map((name) => ({ name, history: load(OLD, name) }));
  const verdicts = (await replay(code, old)).map((verdict) => ({
    ...verdict,
    said: JSON.parse(JSON.stringify(verdict.said, (key, value) => (ADDED.includes(key) ? undefined : value))),
  }));
  expect(verdicts).toEqual(old.map(agreement));
});

test.each(patches())('what new code has begun would be lost if %s were taken back', async (patch) => {
  const histories = namesIn(RECORDED).map((name) => load(RECORDED, name));
  const marked = histories.find((history) => storyOf(history).includes(`patch ${patch}`));
  expect(marked).toBeDefined();
  if (marked !== undefined)
    expect(await objection(decided(code, patch, false), marked)).toBeInstanceOf(DeterminismViolationError);
});

/**
 * The change: a crawl that is being cancelled continues as new. The history: a crawl that earlier code cancelled, all rounds
 * in one run although the server suggested otherwise from the first on.
 */
describe('a crawl that earlier code was cancelling', () => {
  const history = load(OLD, 'cancelled-in-one-run.crawl');

  it('went on in one run where new code continues as new', () => {
    const rounds = storyOf(history).filter((line) => line === 'completed cancelPages');
    expect(rounds.length).toBeGreaterThan(1);
    expect(storyOf(history).at(-1)).toBe('completed');
    expect(storyOf(load(RECORDED, 'cancelled-slowly.crawl')).at(-1)).toBe('continued as new');
  });

  it('is replayed by new code from wherever the old code was when it was replaced', async () => {
    const { events } = history;
    const ends = events.flatMap(({ eventType }, i) => (/TASK_COMPLETED$/.test(eventType) ? [i + 1] : []));
    const beginnings = ends.map((end) => ({
      name: `the first ${end}`,
      history: { events: events.slice(0, end) },
    }));
    const verdicts = await replay(code, beginnings);
    expect(verdicts.map(({ error }) => error)).toEqual(beginnings.map(() => null));
  });

  it('would be stuck without `patched`', async () => {
    const careless = decided(code, 'drain-renews', true);
    expect(await objection(careless, history)).toBeInstanceOf(DeterminismViolationError);
  });
});

/** The change: a page is parsed and recorded in one step. What tells is its input, which costs no event as `patched` would. */
describe('a page that earlier code has begun', () => {
  const history = load(OLD, 'in-two-steps.page');
  const GUARD = /this\.input\.inOneStep === true/;

  it('was parsed and recorded in two steps where new code takes one', () => {
    const twoSteps = ['local parsePage', 'local persistPage'];
    expect(missingFrom(storyOf(history), twoSteps)).toBeNull();
    expect(missingFrom(storyOf(load(RECORDED, 'granted.page')), ['local digestPage'])).toBeNull();
  });

  it('would be stuck if its input were not asked', async () => {
    // Handed what the other step had answered, it fails its task again and again.
    const error = await objection(changed(code, GUARD, 'true'), history);
    expect(error?.message).toMatch(/workflow task failure/);
  });
});

/** The change: a page sends back what its former life was granted. The history: a page that kept it, until it expired. */
describe('a page that earlier code had started again', () => {
  const history = load(OLD, 'kept-a-stray-grant.page');

  it('kept a grant that new code sends back', () => {
    expect(missingFrom(storyOf(history), ['signal granted', 'signal granted', 'completed'])).toBeNull();
    expect(storyOf(history)).not.toContain('signals released');
  });

  it('would be stuck without `patched`', async () => {
    const careless = decided(code, 'stray-grant', true);
    expect(await objection(careless, history)).toBeInstanceOf(DeterminismViolationError);
  });
});

/** The change: a robots.txt that moved to a host which is down is out of reach. The history: a page that only waited. */
describe('a page whose robots.txt moved to where earlier code found nobody', () => {
  const history = load(OLD, 'waited-for-a-hop.page');

  it('waited where new code notes that robots.txt is out of reach', () => {
    const waited = ['completed fetchPage robots-moved', 'local acquireSlot down', 'timer fired'];
    expect(missingFrom(storyOf(history), waited)).toBeNull();
    expect(missingFrom(storyOf(history), ['local missRobots'])).not.toBeNull();
  });

  it('would be stuck without `patched`', async () => {
    const careless = decided(code, 'robots-hop-down', true);
    expect(await objection(careless, history)).toBeInstanceOf(DeterminismViolationError);
  });
});

/** The change: a reset also disregards what is in flight. The history: a reset by earlier code, which only replays without a mark. */
describe('a throttle that earlier code has reset', () => {
  it('has no mark of the new way', () => {
    const story = storyOf(load(OLD, 'reset-regardless.throttle'));
    expect(story).toContain('update reset');
    expect(story).not.toContain('patch reset-in-flight');
  });
});
