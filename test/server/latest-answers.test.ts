import { EventEmitter, once } from 'node:events';
import { expect, test } from 'vitest';
import { type AskForAnswers, LatestAnswers } from '../../src/server/latest-answers.ts';

const FRESH_MS = 60_000;

/** Workflows that answer at once, and note who asked. */
function countingWorkflows(): { ask: AskForAnswers<string>; asked: string[] } {
  const asked: string[] = [];
  const ask: AskForAnswers<string> = async (names, onAnswer) => {
    asked.push(...names);
    for (const name of names) onAnswer(name, `answer ${asked.length}`);
  };
  return { ask, asked };
}

/** Answers when it is told to. */
function slowWorkflow(): { ask: AskForAnswers<string>; answer: (answer: string) => unknown } {
  const told = new EventEmitter<{ answer: [string] }>();
  return {
    async ask([name = ''], onAnswer) {
      const [answer] = await once(told, 'answer');
      onAnswer(name, answer);
    },
    answer: (answer) => told.emit('answer', answer),
  };
}

test('many readers ask each workflow once', async () => {
  const answers = new LatestAnswers<string>();
  const { ask, asked } = countingWorkflows();
  const read = () => answers.read(['a.test', 'b.test'], ask, FRESH_MS);
  const found = await Promise.all(Array.from({ length: 50 }, read));
  expect(found.every(({ size }) => size === 2)).toBe(true);
  await answers.read(['a.test'], ask, FRESH_MS);
  expect(asked).toEqual(['a.test', 'b.test']);
});

test('a workflow is asked again after an order', async () => {
  const answers = new LatestAnswers<string>();
  const { ask, asked } = countingWorkflows();
  await answers.read(['a.test', 'b.test'], ask, FRESH_MS);
  answers.forget('a.test');
  await answers.read(['a.test', 'b.test'], ask, FRESH_MS);
  expect(asked).toEqual(['a.test', 'b.test', 'a.test']);
});

test('an answer to a question from before an order does not count', async () => {
  const answers = new LatestAnswers<string>();
  const slow = slowWorkflow();
  const before = answers.read(['a.test'], slow.ask, FRESH_MS);
  answers.forget('a.test');
  slow.answer('as before the order');
  expect((await before).size).toBe(0);
  expect([...(await answers.read(['a.test'], countingWorkflows().ask, FRESH_MS)).values()]).toEqual([
    'answer 1',
  ]);
});

test('a reader does not wait for workflows that are long in answering, and gets what has come', async () => {
  const answers = new LatestAnswers<string>();
  const slowly: AskForAnswers<string> = (_, onAnswer) => {
    onAnswer('quick.test', 'open');
    return new Promise(() => {});
  };
  expect([...(await answers.read(['quick.test', 'slow.test'], slowly, FRESH_MS)).keys()]).toEqual([
    'quick.test',
  ]);
});

test('a list that is long in answering keeps nobody from asking for another one', async () => {
  const answers = new LatestAnswers<string>();
  await answers.read(['slow.test'], () => new Promise(() => {}), FRESH_MS);
  const { ask } = countingWorkflows();
  expect((await answers.read(['quick.test'], ask, FRESH_MS)).get('quick.test')).toBe('answer 1');
});

test('an answer that comes late is shown to the next reader', async () => {
  const answers = new LatestAnswers<string>();
  const slow = slowWorkflow();
  expect((await answers.read(['a.test'], slow.ask, FRESH_MS)).size).toBe(0);
  slow.answer('late');
  await expect
    .poll(async () => (await answers.read(['a.test'], slow.ask, FRESH_MS)).get('a.test'))
    .toBe('late');
});

test('a question that fails leaves what was known', async () => {
  const answers = new LatestAnswers<string>();
  const fails: AskForAnswers<string> = async () => {
    throw new Error('Temporal is unavailable');
  };
  expect((await answers.read(['a.test'], fails, FRESH_MS)).size).toBe(0);
});
