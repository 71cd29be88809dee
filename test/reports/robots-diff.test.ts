import { expect, test } from 'vitest';
import { diffRobots } from '../../src/reports/robots-diff.ts';

test('shows the lines that were added and removed, with two lines around them', () => {
  const before = 'User-agent: *\nDisallow: /a\nDisallow: /b\nDisallow: /c\nDisallow: /d\nDisallow: /e\n';
  const { lines } = diffRobots(before, before.replace('/e', '/new')) ?? { lines: [] };
  expect(lines.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    'same …',
    'same Disallow: /c',
    'same Disallow: /d',
    'removed Disallow: /e',
    'added Disallow: /new',
  ]);
});

test('other line ends are not a change', () => {
  expect(diffRobots('a\r\nb\r\n', 'a\nb')?.lines.every(({ kind }) => kind === 'same')).toBe(true);
});

test('files that have nothing in common are not compared', () => {
  const file = (name: string) => Array.from({ length: 2_000 }, (_, n) => `${name}${n}`).join('\n');
  expect(diffRobots(file('a'), file('b'))).toBeNull();
});

test('files of very many lines are not compared, however alike they are', () => {
  const file = '\n'.repeat(15_000);
  expect(diffRobots(file, `${file}a`)).toBeNull();
});

test('a long change is cut', () => {
  const { lines, more } = diffRobots('', 'line\n'.repeat(400)) ?? {};
  expect(lines).toHaveLength(200);
  expect(more).toBeGreaterThan(150);
});
