import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/core/package-root.ts';

const documents = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md'].concat(
  readdirSync(join(packageRoot, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
);

function testsNamedIn(document: string): string[] {
  const text = readFileSync(join(packageRoot, document), 'utf8');
  return [...text.matchAll(/`(test\/[\w./-]+)`/g)].flatMap(([, path]) => (path === undefined ? [] : [path]));
}

test.each(documents)('every test that %s names exists', (document) => {
  const missing = testsNamedIn(document).filter((path) => !existsSync(join(packageRoot, path)));
  expect(missing).toEqual([]);
});

test('docs/security.md names the file of each test, not its folder', () => {
  const folders = testsNamedIn('docs/security.md').filter((path) =>
    statSync(join(packageRoot, path)).isDirectory(),
  );
  expect(folders).toEqual([]);
});
