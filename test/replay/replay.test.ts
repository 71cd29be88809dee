/** The workflows replay every recorded history, and a change that would break open workflows is noticed. */
import { hostname } from 'node:os';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { EVIDENCE, missingFrom } from './evidence.ts';
import { load, recordedNames, textOf } from './histories.ts';
import { type History, messagesSentIn, summarize } from './history.ts';
import { agreementWith, type Code, changed, currentCode, replay } from './replay.ts';

let code: Code;
beforeAll(async () => {
  code = await currentCode();
});

describe('the recorded histories', () => {
  it('are those in evidence.ts', () => {
    expect(recordedNames()).toEqual(Object.keys(EVIDENCE).sort());
  });

  test.each(Object.entries(EVIDENCE))('%s shows what it was recorded for', (name, evidence) => {
    expect(missingFrom(summarize(load(name)), evidence)).toBeNull();
  });

  test.each(recordedNames())('%s names no machine', (name) => {
    const text = textOf(name);
    const payloads = [...text.matchAll(/"data":"([^"]*)"/g)].map(([, data = '']) =>
      Buffer.from(data, 'base64').toString(),
    );
    for (const part of [text, ...payloads]) {
      expect(part).not.toMatch(/\/(home|root|tmp|Users|var|work|node_modules)\//);
      expect(part).not.toMatch(/"(identity|stackTrace)"/);
      expect(part).not.toContain(`@${hostname()}`);
    }
  });
});

describe('the workflows', () => {
  it('replay every recorded history and send the same messages', async () => {
    const recorded = recordedNames().map((name) => ({ name, history: load(name) }));
    const results = await replay(code, recorded);
    expect(results).toEqual(recorded.map(agreementWith));
    expect(results.flatMap(({ sent }) => sent).length).toBeGreaterThan(recorded.length);
  });
});

describe('replay notices', () => {
  const expectViolation = async (other: Code, history: History) => {
    const [result] = await replay(other, [{ name: '', history }]);
    expect(result?.error).toBeInstanceOf(DeterminismViolationError);
  };

  it('an activity of another name', () => {
    const renamed = JSON.stringify(load('granted.page')).replace('"fetchPage"', '"fetchAnotherPage"');
    return expectViolation(code, JSON.parse(renamed));
  });

  it('a throttle that does not persist its state at the end', () =>
    expectViolation(changed(code, /if \(!this\.unsaved\)/, 'if (true)'), load('granted.throttle')));

  it('a crawl that does not sweep first', () =>
    expectViolation(
      changed(code, /if \(cancelling \|\| /, 'if (orders.length === 0 || '),
      load('operated.crawl'),
    ));

  it('another slot, by the answers given', async () => {
    const other = changed(code, /startBy: notBefore \+/, 'startBy: 1 + notBefore +');
    const history = load('granted.throttle');
    const [result] = await replay(other, [{ name: 'granted.throttle', history }]);
    expect(result?.error).toBeNull();
    expect(result?.sent).not.toEqual(messagesSentIn(history));
  });
});
