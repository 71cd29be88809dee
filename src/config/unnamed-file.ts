/**
 * What a config file may not set that merely lies in the working directory: whoever clones a repository and starts Amble in it has
 * not read that file, and must not run its programs, send its secrets or write where it says.
 */
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { BadInput } from '../core/errors.ts';
import type { TemporalProfile } from '../temporal/access.ts';
import { NONE } from './values.ts';

type Values = Readonly<Record<string, unknown>>;

interface Circumstances {
  /** What flags and environment set, which counts before the file. */
  nearer: Values;
  profile: TemporalProfile;
  file: string;
  cwd: string;
}

export function assertHarmless(values: Values, { nearer, profile, file, cwd }: Circumstances): void {
  const refuse = (key: string, env: string, why: string): never => {
    throw new BadInput(
      `"${key}" in ${file} ${why}, which a file that merely lies in the working directory may not: set ${env}, or name the file with --config or AMBLE_CONFIG.`,
    );
  };
  if (isSet(values.temporalBinary))
    refuse('temporalBinary', 'AMBLE_TEMPORAL_BINARY', 'names a program to run');
  if (isSet(values.temporalApiKeyFile))
    refuse('temporalApiKeyFile', 'AMBLE_TEMPORAL_API_KEY_FILE', 'names a file whose content is sent away');
  const { home, temporalAddress } = values;
  if (typeof home === 'string' && !isWithin(cwd, resolve(cwd, home)))
    refuse('home', 'AMBLE_HOME', 'is outside the working directory');
  const sendsSecrets = profile.hasSecrets || isSet(nearer.temporalApiKeyFile);
  if (isSet(temporalAddress) && nearer.temporalAddress === undefined && sendsSecrets)
    refuse('temporalAddress', 'TEMPORAL_ADDRESS', 'says where to send a key or certificate from elsewhere');
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== NONE;
}

function isWithin(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
