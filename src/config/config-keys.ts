/** Every setting by its name, its variable and its default. */
import { z } from 'zod';
import { valueAt } from './layers.ts';
import { configSchema, DEFAULTS } from './schema.ts';

export interface ConfigKey {
  /** `['retry', 'jitter']`. */
  path: readonly string[];
  /** `retry.jitter`. */
  name: string;
  /** `AMBLE_RETRY_JITTER`. */
  env: string;
  /** As it would be written in the config file. */
  default: unknown;
}

/** Names that Temporal's and Postgres' own tools already use. */
const FOREIGN_ENV = new Map([
  ['temporalAddress', 'TEMPORAL_ADDRESS'],
  ['temporalNamespace', 'TEMPORAL_NAMESPACE'],
  ['databaseUrl', 'DATABASE_URL'],
]);

/** Every setting: the environment is searched for these, and the documentation is checked against them. */
export const CONFIG_KEYS: readonly ConfigKey[] = leavesOf(configSchema, []).map((path) => {
  const name = path.join('.');
  return { path, name, env: FOREIGN_ENV.get(name) ?? envName(path), default: valueAt(DEFAULTS, path) };
});

function leavesOf(schema: z.ZodObject, above: readonly string[]): string[][] {
  return Object.entries(schema.shape).flatMap(([key, value]) =>
    value instanceof z.ZodObject ? leavesOf(value, [...above, key]) : [[...above, key]],
  );
}

function envName(path: readonly string[]): string {
  const words = path.map((part) => part.replace(/[A-Z]/g, '_$&').toUpperCase());
  return `AMBLE_${words.join('_')}`;
}
