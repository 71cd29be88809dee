import { hostname } from 'node:os';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { load, namesIn, OLD, RECORDED, textOf } from './fixtures.ts';
import { type History, saidIn, storyOf } from './history.ts';
import { type Code, changed, currentCode, replay, type Verdict } from './replaying.ts';
import { ALL, missingFrom } from './situations.ts';

const both = [RECORDED, OLD].flatMap((directory) => namesIn(directory).map((name) => ({ directory, name })));

let code: Code;
beforeAll(async () => {
  // Replay says on its own log, too, what the tests below expect of it.
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: 'ERROR', forward: {} } },
  });
  code = await currentCode();
});

describe('the recorded histories', () => {
  it('are those of all situations, and no others', () => {
    expect(namesIn(RECORDED)).toEqual(ALL.map(({ name }) => name).sort());
  });

  test.each(ALL)('$name shows what it was recorded for', ({ name, evidence }) => {
    expect(missingFrom(storyOf(load(RECORDED, name)), evidence)).toBeNull();
  });

  test.each(both)('$name names no machine', ({ directory, name }) => {
    const text = textOf(directory, name);
    const inside = [...text.matchAll(/"data":"([^"]*)"/g)].map(([, data = '']) =>
      Buffer.from(data, 'base64').toString(),
    );
    for (const part of [text, ...inside]) {
      expect(part).not.toMatch(/\/(home|root|tmp|Users|var|work|node_modules)\//);
      expect(part).not.toMatch(/"(identity|stackTrace)"/);
      expect(part).not.toContain(`@${hostname()}`);
    }
  });
});

describe('the workflows as they are now', () => {
  it('agree with every recorded history', async () => {
    const recorded = namesIn(RECORDED).map((name) => ({ name, history: load(RECORDED, name) }));
    const verdicts = await replay(code, recorded);
    expect(verdicts).toEqual(recorded.map(agreement));
    expect(verdicts.flatMap(({ said }) => said).length).toBeGreaterThan(recorded.length);
  });
});

describe('a difference is noticed', () => {
  const saysNo = async (other: Code, name: string, history: History) => {
    const [verdict] = await replay(other, [{ name, history }]);
    expect(verdict?.error).toBeInstanceOf(DeterminismViolationError);
  };

  it('in a page that fetches by another name than its history says', () => {
    const history = load(RECORDED, 'granted.page');
    const planted = JSON.stringify(history).replace('"fetchPage"', '"fetchAnotherPage"');
    return saysNo(code, 'granted.page', JSON.parse(planted));
  });

  it('in a throttle that writes down nothing at its end', () =>
    saysNo(
      changed(code, /await this\.save\(true\);/, 'this.unsaved = false;'),
      'granted.throttle',
      load(RECORDED, 'granted.throttle'),
    ));

  it('in a throttle that grants to somebody else, though replay itself has nothing to say against it', async () => {
    const elsewhere = changed(code, /WorkflowHandle\)\(workflowId\)/, "WorkflowHandle)('somebody-else')");
    const queued = { name: 'queued.throttle', history: load(RECORDED, 'queued.throttle') };
    const [verdict] = await replay(elsewhere, [queued]);
    expect(verdict?.error).toBeNull();
    expect(verdict?.said).not.toEqual(saidIn(queued.history));
  });

  it('in a crawl that does not look before it ends', () =>
    saysNo(
      changed(
        code,
        /if \(wanted === 'Cancelling'\)/,
        'if (wanted === undefined) await cancelAll(); else if (wanted)',
      ),
      'granted.crawl',
      load(RECORDED, 'granted.crawl'),
    ));
});

/**
 * The change: a crawl that is being cancelled continues as new. The history: a crawl that earlier code cancelled, all rounds
 * in one run although the server suggested otherwise from the first on.
 */
describe('a crawl that earlier code was cancelling', () => {
  const name = 'cancelled-in-one-run.crawl';
  const history = load(OLD, name);
  const GUARD = /\(0, ?\w+\.patched\)\('drain-renews'\)/;

  it('went on in one run where new code continues as new', () => {
    const rounds = storyOf(history).filter((line) => line === 'completed cancelPages');
    expect(rounds.length).toBeGreaterThan(1);
    expect(storyOf(history).at(-1)).toBe('completed');
    expect(storyOf(load(RECORDED, 'cancelled-slowly.crawl')).at(-1)).toBe('continued as new');
  });

  it('is replayed by new code', async () => {
    expect(await replay(code, [{ name, history }])).toEqual([agreement({ name, history })]);
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
    const [verdict] = await replay(changed(code, GUARD, 'true'), [{ name, history }]);
    expect(verdict?.error).toBeInstanceOf(DeterminismViolationError);
  });

  it('would lose what new code has begun, if the change were taken back', async () => {
    const begun = { name: 'cancelled-slowly.crawl', history: load(RECORDED, 'cancelled-slowly.crawl') };
    const [verdict] = await replay(changed(code, GUARD, 'false'), [begun]);
    expect(verdict?.error).toBeInstanceOf(DeterminismViolationError);
  });
});

/** The change: a page is parsed and recorded in one step. What tells is its input, which costs no event as `patched` would. */
describe('a page that earlier code has begun', () => {
  const name = 'in-two-steps.page';
  const history = load(OLD, name);
  const GUARD = /this\.input\.inOneStep === true/;

  it('was parsed and recorded in two steps where new code takes one', () => {
    const twoSteps = ['local parsePage', 'local persistPage'];
    expect(missingFrom(storyOf(history), twoSteps)).toBeNull();
    expect(missingFrom(storyOf(load(RECORDED, 'granted.page')), ['local digestPage'])).toBeNull();
  });

  it('is replayed by new code', async () => {
    expect(await replay(code, [{ name, history }])).toEqual([agreement({ name, history })]);
  });

  it('would be stuck if its input were not asked', async () => {
    const [verdict] = await replay(changed(code, GUARD, 'true'), [{ name, history }]);
    // Handed what the other step had answered, it fails its task again and again.
    expect(verdict?.error?.message).toMatch(/workflow task failure/);
  });
});

/** The code can be run along the history, and tells others what it told them then. */
function agreement({ name, history }: { name: string; history: History }): Verdict {
  return { name, error: null, said: saidIn(history) };
}
