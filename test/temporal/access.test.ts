import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BadInput, loadConfig } from '../../src/config/index.ts';
import { describeTemporal } from '../../src/temporal/explain.ts';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'amble-profile-'));
});

afterEach(() => {
  rmSync(cwd, { recursive: true });
});

function write(name: string, content: string): string {
  const path = join(cwd, name);
  writeFileSync(path, content);
  return path;
}

function load(env: Record<string, string>, flags: Record<string, unknown> = {}) {
  const {
    temporalAddress: address,
    temporalNamespace: namespace,
    temporalAccess: access,
  } = loadConfig({ env, cwd, flags });
  return { address, namespace, access };
}

function refusal(env: Record<string, string>, flags: Record<string, unknown> = {}): string {
  try {
    load(env, flags);
  } catch (error) {
    if (error instanceof BadInput) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

const TOML = `
[profile.default]
address = "local.example:7233"

[profile.prod]
address = "prod.example:7233"
namespace = "crawls"
api_key = "of-the-file"
[profile.prod.tls]
server_name = "temporal.internal"
[profile.prod.grpc_meta]
team = "search"
`;

describe('temporal.toml', () => {
  test('is found by TEMPORAL_CONFIG_FILE and in the home directory of the user', () => {
    const file = write('temporal.toml', TOML);
    expect(load({ TEMPORAL_CONFIG_FILE: file })).toMatchObject({
      address: 'local.example:7233',
      namespace: 'default',
      access: { profile: 'default', tls: false, apiKey: null },
    });
    expect(load({ HOME: cwd, XDG_CONFIG_HOME: cwd })).toMatchObject({ address: null, access: null });
  });

  test('has profiles, chosen by TEMPORAL_PROFILE, with address, namespace, TLS, API key and metadata', () => {
    const env = { TEMPORAL_CONFIG_FILE: write('temporal.toml', TOML), TEMPORAL_PROFILE: 'prod' };
    const { access, ...target } = load(env);
    expect(target).toEqual({ address: 'prod.example:7233', namespace: 'crawls' });
    expect(access).toMatchObject({
      profile: 'prod',
      tls: { serverNameOverride: 'temporal.internal' },
      metadata: { team: 'search' },
    });
    expect(access?.apiKey?.()).toBe('of-the-file');
  });

  test('gives way to the environment, and its address to amble.config.json', () => {
    const env = { TEMPORAL_CONFIG_FILE: write('temporal.toml', TOML), TEMPORAL_PROFILE: 'prod' };
    const nearer = load({ ...env, TEMPORAL_NAMESPACE: 'other', TEMPORAL_API_KEY: 'of-the-environment' });
    expect(nearer).toMatchObject({ address: 'prod.example:7233', namespace: 'other' });
    expect(nearer.access?.apiKey?.()).toBe('of-the-environment');
    const config = write('ours.json', JSON.stringify({ temporalAddress: 'ours.example:7233' }));
    expect(load(env, { config })).toMatchObject({ address: 'ours.example:7233', namespace: 'crawls' });
  });

  test('keeps its secrets from an address in a file that merely lies in the working directory', () => {
    const file = write('temporal.toml', TOML);
    const sentence =
      /^"temporalAddress" in amble\.config\.json says where to send a key .* set TEMPORAL_ADDRESS, or name the file with --config/;
    write('amble.config.json', JSON.stringify({ temporalAddress: 'evil.example:7233' }));
    expect(refusal({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'prod' })).toMatch(sentence);
    expect(refusal({ TEMPORAL_API_KEY: 'k' })).toMatch(sentence);
    expect(refusal({ AMBLE_TEMPORAL_API_KEY_FILE: 'key' })).toMatch(sentence);
    expect(
      refusal({ TEMPORAL_TLS_CLIENT_CERT_PATH: 'a.pem', TEMPORAL_TLS_CLIENT_KEY_PATH: 'a.key' }),
    ).toMatch(sentence);
    expect(refusal({ TEMPORAL_GRPC_META_AUTHORIZATION: 'Bearer k' })).toMatch(sentence);
    // Without secrets, or if the address is not the one that counts, the file is as good as any.
    expect(load({}).address).toBe('evil.example:7233');
    expect(load({ TEMPORAL_TLS: 'true' }).address).toBe('evil.example:7233');
    expect(load({ TEMPORAL_API_KEY: 'k', TEMPORAL_ADDRESS: 'a.example:7233' }).address).toBe(
      'a.example:7233',
    );
  });

  test('without the profile that was asked for, or with a syntax error, is one sentence', () => {
    const file = write('temporal.toml', TOML);
    expect(refusal({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'staging' })).toBe(
      'TEMPORAL_PROFILE is "staging", which temporal.toml does not have (it has default, prod).',
    );
    write('temporal.toml', 'profile = [');
    expect(refusal({ TEMPORAL_CONFIG_FILE: file })).toMatch(
      /^temporal\.toml or a TEMPORAL_ variable is not valid: [^\n]+$/,
    );
    write('temporal.toml', '[profiles.default]');
    expect(refusal({ TEMPORAL_CONFIG_FILE: file })).toMatch(/: it has no profile\.$/);
  });

  test('that disables the verification of hosts is refused, if its profile is used', () => {
    const toml = `${TOML}[profile.lab]\n[profile.lab.tls]\nunknown = 1\ndisable_host_verification = true\n`;
    const env = { TEMPORAL_CONFIG_FILE: write('temporal.toml', toml) };
    expect(refusal({ ...env, TEMPORAL_PROFILE: 'lab' })).toMatch(
      /^disable_host_verification in temporal\.toml is set, but Amble always verifies the server: [^\n]+$/,
    );
    expect(load({ ...env, TEMPORAL_PROFILE: 'prod' }).address).toBe('prod.example:7233');
  });

  test('that is named must exist', () => {
    expect(refusal({ TEMPORAL_CONFIG_FILE: '/no/temporal.toml' })).toBe(
      'TEMPORAL_CONFIG_FILE is /no/temporal.toml, which cannot be read (ENOENT).',
    );
  });
});

describe('the environment', () => {
  const ADDRESS = { TEMPORAL_ADDRESS: 'cloud.example:7233' };

  test('with an API key implies TLS, and TEMPORAL_TLS=false switches it off', () => {
    expect(load({ ...ADDRESS, TEMPORAL_API_KEY: 'k' }).access).toMatchObject({ profile: null, tls: true });
    expect(load({ ...ADDRESS, TEMPORAL_API_KEY: 'k', TEMPORAL_TLS: 'false' }).access).toMatchObject({
      tls: false,
    });
  });

  test('names a client certificate and its key, as files or as text', () => {
    const crt = write('client.pem', 'CERTIFICATE');
    const { access } = load({
      ...ADDRESS,
      TEMPORAL_TLS_CLIENT_CERT_PATH: crt,
      TEMPORAL_TLS_CLIENT_KEY_DATA: 'KEY',
    });
    const { clientCertPair } = access && typeof access.tls === 'object' ? access.tls : {};
    expect(String(Buffer.from(clientCertPair?.crt ?? []))).toBe('CERTIFICATE');
    expect(String(Buffer.from(clientCertPair?.key ?? []))).toBe('KEY');
  });

  test('may have empty variables, which count as not set', () => {
    expect(load({ ...ADDRESS, TEMPORAL_API_KEY: '', TEMPORAL_PROFILE: '' }).access).toMatchObject({
      tls: false,
      apiKey: null,
    });
  });

  test.each([
    [
      { TEMPORAL_TLS_CLIENT_CERT_DATA: 'x' },
      'TEMPORAL_TLS_CLIENT_CERT_PATH (client_cert_path) is set, but TEMPORAL_TLS_CLIENT_KEY_PATH (client_key_path) is not: a client certificate needs both.',
    ],
    [
      { TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/no/ca.pem' },
      "TEMPORAL_TLS_SERVER_CA_CERT_PATH (server_ca_cert_path) names a file that cannot be read: ENOENT: no such file or directory, open '/no/ca.pem'.",
    ],
    [
      // Anything but true would switch it off, and the key would be sent unencrypted.
      { TEMPORAL_API_KEY: 'k', TEMPORAL_TLS: 'yes' },
      'TEMPORAL_TLS is "yes", but must be true or false.',
    ],
    [
      { TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true' },
      'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION is set, but Amble always verifies the server: unset it, and set TEMPORAL_TLS_SERVER_CA_CERT_PATH (server_ca_cert_path) or TEMPORAL_TLS_SERVER_NAME (server_name) instead.',
    ],
    [
      { TEMPORAL_ADDRESS: 'https://cloud.example:7233' },
      'TEMPORAL_ADDRESS is "https://cloud.example:7233", but must be a host and a port such as "localhost:7233", or "none".',
    ],
  ])('with %o is refused in one sentence', (env, sentence) => {
    expect(refusal({ ...ADDRESS, ...env })).toBe(sentence);
  });

  test('with an API key but no address is refused, unless the embedded server is asked for', () => {
    expect(refusal({ TEMPORAL_API_KEY: 'k' })).toMatch(/but no address: set TEMPORAL_ADDRESS\.$/);
    expect(load({ TEMPORAL_API_KEY: 'k' }, { temporalAddress: 'none' }).access).toBeNull();
  });

  test('may leave the API key to a file', () => {
    const file = write('key', 'from-the-file\n');
    const { access } = load({ ...ADDRESS, AMBLE_TEMPORAL_API_KEY_FILE: file });
    expect(access?.tls).toBe(true);
    expect(access?.apiKey?.()).toBe('from-the-file');
    expect(refusal({ ...ADDRESS, AMBLE_TEMPORAL_API_KEY_FILE: 'missing' })).toMatch(
      /^"temporalApiKeyFile" is .*missing, which cannot be read \(ENOENT\)\.$/,
    );
    for (const key of ['two\nlines', 'schlüssel']) {
      write('key', key);
      const sentence = refusal({ ...ADDRESS, AMBLE_TEMPORAL_API_KEY_FILE: file });
      expect(sentence).toMatch(/temporalApiKeyFile.* must be one word of ASCII characters\.$/);
      expect(sentence).not.toContain(key);
    }
    write('key', '\n');
    expect(refusal({ ...ADDRESS, AMBLE_TEMPORAL_API_KEY_FILE: file })).toMatch(
      /^"temporalApiKeyFile" is .*key, which is empty\.$/,
    );
  });
});

test('a server is described by address, namespace and profile', () => {
  const env = { TEMPORAL_CONFIG_FILE: write('temporal.toml', TOML), TEMPORAL_PROFILE: 'prod' };
  const { address, namespace, access } = load(env);
  if (address === null || access === null) throw new Error('no server is configured');
  expect(describeTemporal({ address, namespace, access })).toBe(
    'Temporal at prod.example:7233, namespace crawls, profile prod',
  );
});
