/** Sources of settings in order: the first that holds a key decides, and an error names the source of the bad value. */
import type { z } from 'zod';
import { BadInput } from '../core/errors.ts';
import { isPresetName, PRESETS } from './presets.ts';

export interface Layer {
  values: Record<string, unknown>;
  /** What people call a key of this source: `--delay`, `AMBLE_DELAY`, `"delay" in amble.config.json`. */
  nameOf(path: readonly PropertyKey[]): string;
}

/** Values that must not appear in a log: the database's URL has a password in it. */
const SECRET_KEYS = new Set(['databaseUrl', 'serverToken']);

/** Tables that a nearer source replaces as a whole, like lists: what it leaves out must not come back from below. */
const REPLACED_WHOLE = new Set(['domains', 'resolve']);

/** The layers, nearest first, as one; a preset counts right below the layer that names it. */
export function mergeLayers(layers: readonly Layer[]): Record<string, unknown> {
  return layers
    .flatMap(withPreset)
    .reverse()
    .reduce<Record<string, unknown>>((below, { values }) => merge(below, values), {});
}

/** Throws BadInput with one sentence about the first error. */
export function parseLayers<S extends z.ZodType>(schema: S, layers: readonly Layer[]): z.output<S> {
  const parsed = schema.safeParse(mergeLayers(layers));
  if (parsed.success) return parsed.data;
  throw new BadInput(explain(parsed.error.issues, layers.flatMap(withPreset)));
}

/** NUL and halves of surrogate pairs: Postgres stores neither, and JSON may hold both. */
const NOT_STORABLE = /[\0\p{Surrogate}]/u;

/** No setting is nested deeper. Far deeper input would overflow the stack of whatever reads it. */
const MAX_DEPTH = 10;

/** Throws BadInput if a text in the layer, or the name of a key, can never be stored. */
export function assertStorable({ values, nameOf }: Layer): void {
  const open: { value: unknown; path: readonly string[] }[] = [{ value: values, path: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (typeof value === 'string' && NOT_STORABLE.test(value)) {
      throw new BadInput(
        `${nameOf(path)} contains a NUL character or half of a surrogate pair, which no text may have.`,
      );
    }
    if (typeof value !== 'object' || value === null) continue;
    if (path.length === MAX_DEPTH) throw new BadInput(`${nameOf(path)} is nested too deeply.`);
    for (const [key, inner] of Object.entries(value)) {
      // Escaped, because the sentence itself is stored and shown.
      const name = NOT_STORABLE.test(key) ? JSON.stringify(key).slice(1, -1) : key;
      open.push({ value: inner, path: [...path, name] }, { value: key, path: [...path, name] });
    }
  }
}

/** What a nested value holds at a path; undefined if the path leads nowhere. */
export function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value: unknown = root;
  for (const key of path) {
    if (Array.isArray(value)) value = value[Number(key)];
    else if (isPlainObject(value)) value = value[String(key)];
    else return undefined;
  }
  return value;
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withPreset(layer: Layer): Layer[] {
  const { preset } = layer.values;
  if (!isPresetName(preset)) return [layer];
  return [
    layer,
    { values: PRESETS[preset], nameOf: (path) => `"${path.join('.')}" of the preset ${preset}` },
  ];
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

/** zod's names of JSON types, as people say them. */
const JSON_TYPES: Readonly<Record<string, string>> = {
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
  const expected = (issue.code === 'invalid_type' && JSON_TYPES[issue.expected]) || issue.message;
  return `${sourceOf(issue.path, layers)} is ${shown(issue.path, layers)}, but must be ${expected}.`;
}

function holderOf(path: readonly PropertyKey[], layers: readonly Layer[]): Layer | undefined {
  return layers.find(({ values }) => valueAt(values, path) !== undefined);
}

/** A missing part belongs to the source of the table that lacks it. */
function sourceOf(path: readonly PropertyKey[], layers: readonly Layer[]): string {
  for (let length = path.length; length >= 0; length -= 1) {
    const holder = holderOf(path.slice(0, length), layers);
    if (holder) return holder.nameOf(path);
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
