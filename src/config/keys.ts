/** The keys of the schema as a list: what the environment is searched for and the documentation is checked against. */
import { z } from 'zod';
import { configSchema, DEFAULTS } from './schema.ts';

export interface ConfigKey {
  /** `['throttle', 'lead']`. */
  path: readonly string[];
  /** `throttle.lead`. */
  name: string;
  /** `AMBLE_THROTTLE_LEAD`. */
  env: string;
  /** As it would be written in the config file. */
  default: unknown;
}

/** Names that the rest of the world already uses for these. */
const FOREIGN_ENV = new Map([
  ['temporalAddress', 'TEMPORAL_ADDRESS'],
  ['temporalNamespace', 'TEMPORAL_NAMESPACE'],
  ['databaseUrl', 'DATABASE_URL'],
]);

export const CONFIG_KEYS: readonly ConfigKey[] = leavesOf(configSchema, []).map((path) => {
  const name = path.join('.');
  return { path, name, env: FOREIGN_ENV.get(name) ?? envName(path), default: valueAt(DEFAULTS, path) };
});

/** What a nested value holds at a path; undefined where the path leads nowhere. */
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

function leavesOf(schema: z.ZodObject, above: readonly string[]): string[][] {
  return Object.entries(schema.shape).flatMap(([key, value]) =>
    value instanceof z.ZodObject ? leavesOf(value, [...above, key]) : [[...above, key]],
  );
}

function envName(path: readonly string[]): string {
  const words = path.map((part) => part.replace(/[A-Z]/g, '_$&').toUpperCase());
  return `AMBLE_${words.join('_')}`;
}
