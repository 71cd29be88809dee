/** How to reach a Temporal server: what TEMPORAL_... variables and temporal.toml say, as Temporal's own CLI reads them. */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from '@temporalio/client';
import {
  type ClientConfigProfile,
  type ClientConfigTLS,
  loadClientConfig,
  loadClientConfigProfile,
  loadConfigData,
  toClientOptions,
} from '@temporalio/envconfig';
import { BadInput, codeOf, messageOf } from '../core/errors.ts';
import { createApiKey } from './api-key.ts';

/** A server and how to reach it. */
export interface TemporalTarget {
  address: string;
  namespace: string;
  /** Unset: without TLS and without an API key. */
  access?: TemporalAccess;
}

export interface TemporalAccess {
  /** Of temporal.toml; null: it has none that applies. */
  profile: string | null;
  tls: Exclude<ConnectionOptions['tls'], null | undefined>;
  metadata: Record<string, string>;
  /** Returns the key as it is now; null: no key is sent. */
  apiKey: (() => string) | null;
}

export interface TemporalProfile {
  address?: string;
  namespace?: string;
  /** TLS or an API key is configured. */
  secured: boolean;
  /** An API key, a client certificate or metadata, which the server would get. */
  hasSecrets: boolean;
  /** `keyFile` has the API key; null: the profile or the environment has it, if there is one. */
  access(keyFile: string | null, rereading?: { intervalMs: number }): TemporalAccess;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_PROFILE = 'default';

/** How the files of `ClientConfigTLS` are set. */
const CERTIFICATE_SETTINGS = {
  clientCert: 'TEMPORAL_TLS_CLIENT_CERT_PATH (client_cert_path)',
  clientKey: 'TEMPORAL_TLS_CLIENT_KEY_PATH (client_key_path)',
  serverCACert: 'TEMPORAL_TLS_SERVER_CA_CERT_PATH (server_ca_cert_path)',
} as const;

export function readTemporalProfile(environment: Environment): TemporalProfile {
  const overrideEnvVars = setVariables(environment);
  assertUnderstood(overrideEnvVars);
  const load = (): ClientConfigProfile => loadClientConfigProfile({ overrideEnvVars });
  const name = profileName(overrideEnvVars);
  const profile = orBadInput(load);
  assertHostsVerified(overrideEnvVars, name);
  const { address, namespace } = profile;
  return {
    ...(address !== undefined && { address }),
    ...(namespace !== undefined && { namespace }),
    secured: profile.tls !== undefined || profile.apiKey !== undefined,
    hasSecrets:
      profile.apiKey !== undefined ||
      profile.tls?.clientCert !== undefined ||
      profile.tls?.clientKey !== undefined ||
      Object.keys(profile.grpcMeta ?? {}).length > 0,
    access(keyFile, rereading) {
      const { tls, ...rest } = profile;
      const readKey = (from: ClientConfigProfile): string | undefined =>
        keyFile === null ? checkedKey(from.apiKey) : readKeyFile(keyFile);
      // A key in a file implies TLS as one in the profile does.
      const apiKey = readKey(profile);
      const { connectionOptions } = toClientOptions({
        ...rest,
        ...(tls !== undefined && { tls: withCertificates(tls) }),
        ...(apiKey !== undefined && { apiKey }),
      });
      return {
        profile: name,
        tls: connectionOptions.tls ?? false,
        metadata: rest.grpcMeta ?? {},
        apiKey: apiKey === undefined ? null : createApiKey(apiKey, () => readKey(load()), rereading),
      };
    },
  };
}

/** Compose files and shells pass unset variables on as empty ones. Empty metadata has a meaning: it removes that of the file. */
function setVariables(environment: Environment): Record<string, string> {
  const set: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment))
    if (value !== undefined && (value !== '' || name.startsWith('TEMPORAL_GRPC_META_'))) set[name] = value;
  return set;
}

/** The library ignores a file that is missing, and takes every other value of TEMPORAL_TLS for "false". */
function assertUnderstood({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_TLS: tls, ...rest }: Environment): void {
  if (file !== undefined) readNamedFile('TEMPORAL_CONFIG_FILE', file);
  if (tls !== undefined && !['true', '1', 'false', '0'].includes(tls))
    throw new BadInput(`TEMPORAL_TLS is "${tls}", but must be true or false.`);
  // The library ignores it, but takes it for a reason to use TLS.
  if (rest.TEMPORAL_TLS_DISABLE_HOST_VERIFICATION !== undefined)
    throw hostsAreVerified('TEMPORAL_TLS_DISABLE_HOST_VERIFICATION');
}

/** The library knows nothing of the key, and says so only if asked to be strict, which would refuse keys to come as well. */
function assertHostsVerified(overrideEnvVars: Record<string, string>, profile: string | null): void {
  try {
    loadClientConfig({ overrideEnvVars, configFileStrict: true });
  } catch (error) {
    if (
      messageOf(error).includes(` profile.${profile}.tls: `) &&
      /disable_host_verification/.test(messageOf(error))
    )
      throw hostsAreVerified('disable_host_verification in temporal.toml');
  }
}

function hostsAreVerified(setting: string): BadInput {
  return new BadInput(
    `${setting} is set, but Amble always verifies the server: unset it, and set ${CERTIFICATE_SETTINGS.serverCACert} or TEMPORAL_TLS_SERVER_NAME (server_name) instead.`,
  );
}

function profileName(overrideEnvVars: Record<string, string>): string | null {
  const { profiles } = orBadInput(() => loadClientConfig({ overrideEnvVars }));
  const { TEMPORAL_PROFILE: wanted } = overrideEnvVars;
  const name = wanted ?? DEFAULT_PROFILE;
  if (Object.hasOwn(profiles, name)) return name;
  if (wanted === undefined) return null;
  const known = Object.keys(profiles).join(', ') || 'none';
  throw new BadInput(`TEMPORAL_PROFILE is "${wanted}", which temporal.toml does not have (it has ${known}).`);
}

function withCertificates(tls: ClientConfigTLS): ClientConfigTLS {
  if (tls.disabled === true) return tls;
  const { clientCert, clientKey } = tls;
  if ((clientCert === undefined) !== (clientKey === undefined)) {
    const [given, missing] = clientKey
      ? (['clientKey', 'clientCert'] as const)
      : (['clientCert', 'clientKey'] as const);
    throw new BadInput(
      `${CERTIFICATE_SETTINGS[given]} is set, but ${CERTIFICATE_SETTINGS[missing]} is not: a client certificate needs both.`,
    );
  }
  const read: ClientConfigTLS = { ...tls };
  for (const part of ['clientCert', 'clientKey', 'serverCACert'] as const) {
    try {
      const data = loadConfigData(tls[part]);
      if (data !== undefined) read[part] = { data };
    } catch (error) {
      throw new BadInput(
        `${CERTIFICATE_SETTINGS[part]} names a file that cannot be read: ${messageOf(error)}.`,
      );
    }
  }
  return read;
}

function readKeyFile(file: string): string | undefined {
  const key = readNamedFile('"temporalApiKeyFile"', file).trim();
  if (key === '') throw new BadInput(`"temporalApiKeyFile" is ${file}, which is empty.`);
  return checkedKey(key);
}

function readNamedFile(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new BadInput(`${setting} is ${file}, which cannot be read (${String(codeOf(error))}).`);
  }
}

/** gRPC quotes a key that cannot be a header in its error. */
function checkedKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return key;
  throw new BadInput(
    'The API key of Temporal (TEMPORAL_API_KEY, api_key in temporal.toml, or the file in "temporalApiKeyFile") must be one word of ASCII characters.',
  );
}

/** The library reads files and TOML, and throws what their parsers throw. */
function orBadInput<T>(load: () => T): T {
  try {
    return load();
  } catch (error) {
    // Of a file without the table `profile`, also an empty one.
    const [reason = ''] = error instanceof TypeError ? ['it has no profile.'] : messageOf(error).split('\n');
    throw new BadInput(`temporal.toml or a TEMPORAL_ variable is not valid: ${reason}`);
  }
}
