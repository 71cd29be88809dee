/** Sources of settings, stacked: the first that holds a key decides, and a bad value is blamed on its source. */
import type { z } from 'zod';
import { BadInput } from './bad-input.ts';
import { isPlainObject, valueAt } from './keys.ts';

export interface Layer {
  values: Record<string, unknown>;
  /** What people call a key of this source: `--delay`, `AMBLE_DELAY`, `"delay" in amble.config.json`. */
  call(path: readonly PropertyKey[]): string;
}

/** Values nobody should find in a log: the database's URL has a password in it. */
const SECRET_KEYS = new Set(['databaseUrl']);

/** First layer first. Throws BadInput with a sentence about the first thing that is wrong. */
export function parseLayers<S extends z.ZodType>(schema: S, layers: readonly Layer[]): z.output<S> {
  const merged = [...layers]
    .reverse()
    .reduce<Record<string, unknown>>((below, { values }) => merge(below, values), {});
  const parsed = schema.safeParse(merged);
  if (parsed.success) return parsed.data;
  throw new BadInput(explain(parsed.error.issues, layers));
}

function merge(below: Record<string, unknown>, above: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = below[key];
    merged[key] = isPlainObject(under) && isPlainObject(value) ? merge(under, value) : value;
  }
  return merged;
}

function explain(issues: readonly z.core.$ZodIssue[], layers: readonly Layer[]): string {
  const issue = issues[0];
  if (!issue) return 'The configuration is not valid.';
  if (issue.code === 'unrecognized_keys') {
    const path = [...issue.path, issue.keys[0] ?? ''];
    return `${sourceOf(path, layers)} is not a setting; docs/configuration.md lists them all.`;
  }
  const wanted = issue.code === 'invalid_type' && issue.expected === 'object' ? 'an object' : issue.message;
  return `${sourceOf(issue.path, layers)} is ${shown(issue.path, layers)}, but must be ${wanted}.`;
}

function holderOf(path: readonly PropertyKey[], layers: readonly Layer[]): Layer | undefined {
  return layers.find(({ values }) => valueAt(values, path) !== undefined);
}

function sourceOf(path: readonly PropertyKey[], layers: readonly Layer[]): string {
  return holderOf(path, layers)?.call(path) ?? `"${path.join('.')}"`;
}

function shown(path: readonly PropertyKey[], layers: readonly Layer[]): string {
  if (SECRET_KEYS.has(path.join('.'))) return 'not understood';
  const value = valueAt(holderOf(path, layers)?.values, path);
  // A flag that may be repeated makes a list even if it was given once.
  const text = JSON.stringify(Array.isArray(value) && value.length === 1 ? value[0] : value) ?? 'missing';
  return text.length > 120 ? `${text.slice(0, 120)}...` : text;
}
