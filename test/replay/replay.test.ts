import { hostname } from 'node:os';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { load, namesIn, OLD, RECORDED, textOf } from './fixtures.ts';
import { type History, saidIn, storyOf } from './history.ts';
import { agreement, type Code, changed, currentCode, objection, replay } from './replaying.ts';
import { ALL, missingFrom } from './situations.ts';

const both = [RECORDED, OLD].flatMap((directory) => namesIn(directory).map((name) => ({ directory, name })));

let code: Code;
beforeAll(async () => {
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
  const saysNo = async (other: Code, history: History) =>
    expect(await objection(other, history)).toBeInstanceOf(DeterminismViolationError);

  it('in a page that fetches by another name than its history says', () => {
    const history = load(RECORDED, 'granted.page');
    const planted = JSON.stringify(history).replace('"fetchPage"', '"fetchAnotherPage"');
    return saysNo(code, JSON.parse(planted));
  });

  it('in a throttle that writes down nothing at its end', () =>
    saysNo(
      changed(code, /await this\.save\(true\);/, 'this.unsaved = false;'),
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
      load(RECORDED, 'granted.crawl'),
    ));
});
