/** Configuration of this process: flags, then environment, then `amble.config.json`, then defaults. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { BadInput } from '../core/bad-input.ts';
import { messageOf } from '../core/error-chain.ts';
import { CONFIG_KEYS, isPlainObject } from './keys.ts';
import { type Layer, parseLayers } from './layers.ts';
import { whyRulesUnusable } from './policies.ts';
import { type AmbleConfig, configSchema, DEFAULTS, toConfig } from './schema.ts';

const CONFIG_FILE = 'amble.config.json';

/** The file's own place cannot stand in the file. */
const CONFIG_FILE_ENV = 'AMBLE_CONFIG';

export interface ConfigSources {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** By key, nested as in the file; `config` names the file itself. */
  flags?: Record<string, unknown>;
}

export function loadConfig({ env, cwd, flags = {} }: ConfigSources): AmbleConfig {
  const { config: file = env[CONFIG_FILE_ENV] || undefined, ...values } = flags;
  const layers: Layer[] = [
    { values, call: flagName },
    { values: fromEnvironment(env), call: envNameOf },
    fromFile(file, cwd),
    { values: DEFAULTS, call: (path) => `the default of "${path.join('.')}"` },
  ];
  const config = toConfig(parseLayers(configSchema, layers), cwd);
  const unusable = whyRulesUnusable(config.crawl.domains, config.politenessKey);
  if (unusable !== null) throw new BadInput(unusable);
  return config;
}

function flagName(path: readonly PropertyKey[]): string {
  return `--${path.join('-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function envNameOf(path: readonly PropertyKey[]): string {
  const name = path.join('.');
  const key = CONFIG_KEYS.find((key) => name === key.name || name.startsWith(`${key.name}.`));
  if (key === undefined) return name;
  return name === key.name ? key.env : `"${name.slice(key.name.length + 1)}" in ${key.env}`;
}

function fromEnvironment(env: ConfigSources['env']): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const known = new Set([CONFIG_FILE_ENV]);
  for (const { path, env: name } of CONFIG_KEYS) {
    known.add(name);
    // Compose files and shells pass unset variables on as empty ones.
    const raw = env[name]?.trim();
    if (raw) put(values, path, structured(raw));
  }
  const unknown = Object.keys(env).find((name) => name.startsWith('AMBLE_') && !known.has(name));
  if (unknown !== undefined) {
    throw new BadInput(
      `${unknown} in the environment is not a setting; docs/configuration.md lists them all.`,
    );
  }
  return values;
}

/** Lists and tables may be written in a variable as they are in the file. */
function structured(raw: string): unknown {
  if (!/^[[{]/.test(raw)) return raw;
  try {
    return JSON.parse(raw);
  } catch {
    // The schema says what it wants instead.
    return raw;
  }
}

function put(values: Record<string, unknown>, [first, ...rest]: readonly string[], value: unknown): void {
  if (first === undefined) return;
  if (rest.length === 0) {
    values[first] = value;
    return;
  }
  const existing = values[first];
  const inner = isPlainObject(existing) ? existing : {};
  values[first] = inner;
  put(inner, rest, value);
}

/** A file that was named must be there; the one in the working directory may be missing. */
function fromFile(named: unknown, cwd: string): Layer {
  const file = typeof named === 'string' ? named : CONFIG_FILE;
  const call: Layer['call'] = (path) => `"${path.join('.')}" in ${file}`;
  const content = readIfThere(resolve(cwd, file), file, named !== undefined);
  if (content === undefined) return { values: {}, call };
  const values = parseJson(content, file);
  if (!isPlainObject(values)) throw new BadInput(`${file} must hold one JSON object of settings.`);
  return { values, call };
}

function readIfThere(path: string, file: string, required: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    if (code === 'ENOENT' && !required) return undefined;
    throw new BadInput(`The configuration file ${file} cannot be read (${String(code)}).`);
  }
}

function parseJson(content: string, file: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new BadInput(`${file} is not valid JSON: ${messageOf(error)}.`);
  }
}
