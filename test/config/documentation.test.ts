import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { CONFIG_KEYS, PRESET_NAMES } from '../../src/config/index.ts';
import { packageRoot } from '../../src/core/package-root.ts';

const ROW = /^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \| (?:`([^`]+)` )?\| .+ \|$/;

const text = readFileSync(join(packageRoot, 'docs', 'configuration.md'), 'utf8');

const documented = text.split('\n').flatMap((line) => {
  const match = ROW.exec(line);
  return match ? [{ name: match[1], default: match[2], env: match[3], flag: match[4] }] : [];
});

test('docs/configuration.md lists every key of the schema with its default and variable, and no other', () => {
  const keys = CONFIG_KEYS.map(({ name, env, default: value }) => ({
    name,
    default: typeof value === 'string' ? value : JSON.stringify(value),
    env,
  }));
  const byName = (one: { name?: string | undefined }, other: { name?: string | undefined }) =>
    (one.name ?? '').localeCompare(other.name ?? '');
  expect(documented.map(({ flag: _, ...key }) => key).sort(byName)).toEqual(keys.sort(byName));
});

test('docs/configuration.md names the flag of every setting that has one', () => {
  const program = buildProgram(() => {});
  const flags = new Set(program.commands.flatMap(({ options }) => options.map(({ long }) => long)));
  for (const { name = '', flag } of documented) {
    const own = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    expect({ name, flag }).toEqual({ name, flag: flags.has(own) ? own : undefined });
  }
});

test('docs/configuration.md names every preset', () => {
  const header = text.split('\n').find((line) => line.startsWith('| | `smallweb`'));
  expect(header).toBe(`| | ${PRESET_NAMES.map((name) => `\`${name}\``).join(' | ')} |`);
});
