/** Sources of settings, stacked: the first that holds a key decides, and a bad value is blamed on its source. */
import type { z } from 'zod';
import { BadInput } from '../core/bad-input.ts';
import { isPlainObject, valueAt } from './keys.ts';
import { isPresetName, PRESETS } from './presets.ts';

export interface Layer {
  values: Record<string, unknown>;
  /** What people call a key of this source: `--delay`, `AMBLE_DELAY`, `"delay" in amble.config.json`. */
  call(path: readonly PropertyKey[]): string;
}

/** Values nobody should find in a log: the database's URL has a password in it. */
const SECRET_KEYS = new Set(['databaseUrl']);

/** Tables of rules are replaced as a whole, like lists: what a nearer source leaves out must not come back. */
const REPLACED_WHOLE = new Set(['domains']);

/** First layer first. Throws BadInput with a sentence about the first thing that is wrong. */
export function parseLayers<S extends z.ZodType>(schema: S, layers: readonly Layer[]): z.output<S> {
  const stacked = layers.flatMap(withPreset);
  const merged = [...stacked]
    .reverse()
    .reduce<Record<string, unknown>>((below, { values }) => merge(below, values), {});
  const parsed = schema.safeParse(merged);
  if (parsed.success) return parsed.data;
  throw new BadInput(explain(parsed.error.issues, stacked));
}

/** A preset counts where it is named: under what its own source says, above every source below. */
function withPreset(layer: Layer): Layer[] {
  const { preset } = layer.values;
  if (!isPresetName(preset)) return [layer];
  return [layer, { values: PRESETS[preset], call: (path) => `"${path.join('.')}" of the preset ${preset}` }];
}

function merge(below: Record<string, unknown>, above: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = below[key];
    const isGroup = isPlainObject(under) && isPlainObject(value) && !REPLACED_WHOLE.has(key);
    merged[key] = isGroup ? merge(under, value) : value;
  }
  return merged;
}

/** What zod calls the shapes of JSON, in words. */
const SHAPES: Readonly<Record<string, string>> = {
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

function explain(issues: readonly z.core.$ZodIssue[], layers: readonly Layer[]): string {
  const issue = issues[0];
  if (!issue) return 'The configuration is not valid.';
  if (issue.code === 'unrecognized_keys') {
    const path = [...issue.path, issue.keys[0] ?? ''];
    return `${sourceOf(path, layers)} is not a setting; docs/configuration.md lists them all.`;
  }
  const wanted = (issue.code === 'invalid_type' && SHAPES[issue.expected]) || issue.message;
  return `${sourceOf(issue.path, layers)} is ${shown(issue.path, layers)}, but must be ${wanted}.`;
}

function holderOf(path: readonly PropertyKey[], layers: readonly Layer[]): Layer | undefined {
  return layers.find(({ values }) => valueAt(values, path) !== undefined);
}

/** Of a part that is missing, the source of what it is missing from. */
function sourceOf(path: readonly PropertyKey[], layers: readonly Layer[]): string {
  for (let length = path.length; length >= 0; length -= 1) {
    const holder = holderOf(path.slice(0, length), layers);
    if (holder) return holder.call(path);
  }
  return `"${path.join('.')}"`;
}

function shown(path: readonly PropertyKey[], layers: readonly Layer[]): string {
  if (SECRET_KEYS.has(path.join('.'))) return 'not understood';
  const value = valueAt(holderOf(path, layers)?.values, path);
  // A flag that may be repeated makes a list even if it was given once.
  const text = JSON.stringify(Array.isArray(value) && value.length === 1 ? value[0] : value) ?? 'missing';
  return text.length > 120 ? `${text.slice(0, 120)}...` : text;
}
