/** Configuration of this process: flags, then environment, then `amble.config.json`, then defaults. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { BadInput, codeOf, messageOf } from '../core/errors.ts';
import { readTemporalProfile, type TemporalProfile } from '../temporal/access.ts';
import { CONFIG_KEYS } from './config-keys.ts';
import { assertStorable, isPlainObject, type Layer, mergeLayers, parseLayers } from './layers.ts';
import { whyRulesUnusable } from './policies.ts';
import { type AmbleConfig, configSchema, DEFAULTS, toConfig } from './schema.ts';
import { parseTuning, type Tuning, type TuningChanges } from './tuning.ts';
import { assertHarmless } from './unnamed-file.ts';

const CONFIG_FILE = 'amble.config.json';

/** The place of the file cannot be set in the file. */
const CONFIG_FILE_ENV = 'AMBLE_CONFIG';

/** For this project's own tests of the real program; see tuning.ts. */
const TUNING_ENV = 'AMBLE_TEST_TUNING';

export interface ConfigSources {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** By key, nested as in the file; `config` names the file itself. */
  flags?: Record<string, unknown>;
  tuning?: TuningChanges;
}

export function loadConfig({ env, cwd, flags = {}, tuning }: ConfigSources): AmbleConfig {
  const { config: file = env[CONFIG_FILE_ENV] || undefined, ...values } = flags;
  const profile = readTemporalProfile(env);
  const layers: [Layer, Layer, Layer, ...Layer[]] = [
    { values, nameOf: flagName },
    { values: fromEnvironment(env), nameOf: envNameOf },
    fromFile(file, cwd),
    fromProfile(profile),
    { values: DEFAULTS, nameOf: (path) => `the default of "${path.join('.')}"` },
  ];
  for (const layer of layers) assertStorable(layer);
  const [flagLayer, environment, { values: inFile }] = layers;
  if (file === undefined) {
    const nearer = mergeLayers([flagLayer, environment]);
    assertHarmless(inFile, { nearer, profile, file: CONFIG_FILE, cwd });
  }
  // Amble's own server would be used, and the settings meant for another one ignored.
  if (profile.secured && mergeLayers(layers.slice(0, -1)).temporalAddress === undefined)
    throw new BadInput(
      'An API key or TLS is set for Temporal (TEMPORAL_API_KEY, TEMPORAL_TLS... or temporal.toml), but no address: set TEMPORAL_ADDRESS.',
    );
  const config = toConfig(parseLayers(configSchema, layers), {
    merged: mergeLayers(layers),
    tuning: tuning ? parseTuning(tuning, 'The tuning') : tuningFrom(env[TUNING_ENV]),
    cwd,
    profile,
    env,
  });
  const unusable = whyRulesUnusable(config.crawl.domains, config.politenessKey);
  if (unusable !== null) throw new BadInput(unusable);
  return config;
}

function tuningFrom(raw: string | undefined): Tuning {
  return parseTuning(raw ? parseJson(raw, TUNING_ENV) : {}, TUNING_ENV);
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
  const known = new Set([CONFIG_FILE_ENV, TUNING_ENV]);
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

/** Lists and tables may be written in a variable as in the file. */
function structured(raw: string): unknown {
  if (!/^[[{]/.test(raw)) return raw;
  try {
    return JSON.parse(raw);
  } catch {
    // The schema refuses the text, and names what it expects instead.
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

/** Below Amble's own file: temporal.toml may be the user's, for every program that uses Temporal. */
function fromProfile({ address, namespace }: TemporalProfile): Layer {
  return {
    values: {
      ...(address !== undefined && { temporalAddress: address }),
      ...(namespace !== undefined && { temporalNamespace: namespace }),
    },
    nameOf: (path) => `"${path.join('.')}" from temporal.toml`,
  };
}

/** A file that was named must exist; the one in the working directory may be missing. */
function fromFile(named: unknown, cwd: string): Layer {
  const file = typeof named === 'string' ? named : CONFIG_FILE;
  const nameOf: Layer['nameOf'] = (path) => `"${path.join('.')}" in ${file}`;
  const content = readIfPresent(resolve(cwd, file), file, named !== undefined);
  if (content === undefined) return { values: {}, nameOf };
  const values = parseJson(content, file);
  if (!isPlainObject(values)) throw new BadInput(`${file} must hold one JSON object of settings.`);
  return { values, nameOf };
}

function readIfPresent(path: string, file: string, required: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = codeOf(error) ?? error;
    if (code === 'ENOENT' && !required) return undefined;
    throw new BadInput(`The configuration file ${file} cannot be read (${String(code)}).`);
  }
}

function parseJson(content: string, source: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new BadInput(`${source} is not valid JSON: ${messageOf(error)}.`);
  }
}
