import { expect, test } from 'vitest';
import { renderLogLine } from '../../src/cli/render/log-line.ts';

const AT = Date.UTC(2026, 10, 18, 14, 0, 5, 7);

test('a line for people has the time, the level, the sentence and the fields', () => {
  const json = {
    level: 30,
    time: AT,
    pid: 7,
    crawlId: 'news',
    attempt: 2,
    domain: 'a.test',
    msg: 'page ended',
  };
  expect(renderLogLine(JSON.stringify(json))).toBe(
    '14:00:05.007 INFO  page ended  crawlId=news  attempt=2  domain=a.test',
  );
});

test('an error follows on lines of its own', () => {
  const err = { type: 'Error', message: 'no', stack: 'Error: no\n    at here' };
  expect(renderLogLine(JSON.stringify({ level: 50, time: AT, err, msg: 'could not' }))).toBe(
    '14:00:05.007 ERROR could not\n    Error: no\n    at here',
  );
});

test('what is not a line of the log stays as it is', () => {
  expect(renderLogLine('half a {')).toBe('half a {');
});
