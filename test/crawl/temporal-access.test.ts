/** A Temporal server behind TLS, client certificates and API keys. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findTemporal } from '../../src/embedded/index.ts';
import { readTemporalProfile, type TemporalAccess } from '../../src/temporal/access.ts';
import { connectTemporal } from '../../src/temporal/connection.ts';
import { probeTemporal } from '../../src/temporal/probe.ts';
import { connectWorker } from '../../src/worker/native-connection.ts';
import { startAmble } from '../support/amble.ts';
import { createAuthority } from '../support/certificates.ts';
import { testEngines } from '../support/engines.ts';
import { startTemporalGateway, type TemporalGateway } from '../support/temporal-gateway.ts';
import { flatSite, startWeb } from '../support/web.ts';

/** The usual ten seconds are for keys that stay valid for hours. */
const REREAD_AT_ONCE = { intervalMs: 50 };

let directory: string;
/** With client certificates ... */
let mutual: TemporalGateway;
/** ... and without. */
let plain: TemporalGateway;
/** What an operator sets for `mutual`. */
let settings: Record<string, string>;
let stranger: Record<string, string>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'amble-tls-'));
  const [ours, others] = await Promise.all([
    createAuthority(join(directory, 'ours')),
    createAuthority(join(directory, 'others')),
  ]);
  const [server, client, unknown] = await Promise.all([
    ours.issue('server'),
    ours.issue('client'),
    others.issue('unknown'),
  ]);
  const { temporalAddress: target } = testEngines();
  mutual = await startTemporalGateway({ target, certificate: server, clientCa: ours.ca });
  plain = await startTemporalGateway({ target, certificate: server });
  settings = {
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: ours.ca,
    TEMPORAL_TLS_CLIENT_CERT_PATH: client.cert,
    TEMPORAL_TLS_CLIENT_KEY_PATH: client.key,
  };
  stranger = { cert: unknown.cert, key: unknown.key, ca: others.ca };
});
afterAll(async () => {
  await Promise.all([mutual?.stop(), plain?.stop()]);
  await rm(directory, { recursive: true, force: true });
});
beforeEach(() => plain.setApiKeys(null));

function target(
  { address }: TemporalGateway,
  env: Record<string, string>,
  namespace = testEngines().namespace,
) {
  return { address, namespace, access: readTemporalProfile(env).access(null) };
}

test('a crawl runs over mutual TLS', async () => {
  const web = await startWeb({ small: flatSite(3) });
  const { namespace, access, address: temporalAddress } = target(mutual, settings);
  const amble = await startAmble({}, { temporalAddress, namespace, access });
  try {
    const { pages } = await amble.crawl({ seeds: [web.url('small', '/')], ...web.network });
    expect(pages).toEqual({ Fetched: 4 });
  } finally {
    await amble.stop();
    await web.stop();
  }
});

describe('what keeps us out is one sentence that names the setting:', () => {
  test.each<[string, () => Parameters<typeof probeTemporal>[0], RegExp]>([
    [
      'an authority that is not trusted',
      () => target(mutual, { ...settings, TEMPORAL_TLS_SERVER_CA_CERT_PATH: stranger.ca ?? '' }),
      /certificate of an authority that is not trusted here .*TEMPORAL_TLS_SERVER_CA_CERT_PATH/,
    ],
    [
      'a certificate for another name',
      () => target(mutual, { ...settings, TEMPORAL_TLS_SERVER_NAME: 'elsewhere.example' }),
      /certificate for another name: set TEMPORAL_TLS_SERVER_NAME/,
    ],
    [
      'a client certificate of another authority',
      () =>
        target(mutual, {
          ...settings,
          TEMPORAL_TLS_CLIENT_CERT_PATH: stranger.cert ?? '',
          TEMPORAL_TLS_CLIENT_KEY_PATH: stranger.key ?? '',
        }),
      /TEMPORAL_TLS_CLIENT_CERT_PATH/,
    ],
    [
      'no client certificate',
      () =>
        target(mutual, { TEMPORAL_TLS_SERVER_CA_CERT_PATH: settings.TEMPORAL_TLS_SERVER_CA_CERT_PATH ?? '' }),
      /TEMPORAL_TLS_CLIENT_CERT_PATH/,
    ],
    [
      'the key of another certificate',
      () => target(mutual, { ...settings, TEMPORAL_TLS_CLIENT_KEY_PATH: stranger.key ?? '' }),
      /^TEMPORAL_TLS_CLIENT_KEY_PATH is not the key of the certificate/,
    ],
    [
      'a certificate file that is not one',
      () =>
        target(mutual, {
          ...settings,
          TEMPORAL_TLS_CLIENT_CERT_PATH: '',
          TEMPORAL_TLS_CLIENT_CERT_DATA: 'not a certificate',
        }),
      /is not a PEM file/,
    ],
    [
      'a server with TLS, asked without',
      () => target(plain, {}),
      /does not answer without TLS: set TEMPORAL_TLS=true/,
    ],
    [
      'a server without TLS, asked with',
      () => ({ ...target(plain, { TEMPORAL_TLS: 'true' }), address: testEngines().temporalAddress }),
      /does not speak TLS .*TEMPORAL_TLS/,
    ],
    [
      'a namespace that does not exist',
      () => target(mutual, settings, 'nowhere'),
      /no namespace "nowhere".*TEMPORAL_NAMESPACE/,
    ],
  ])('%s', async (_, at, sentence) => {
    expect(await probeTemporal(at())).toEqual({ misconfigured: expect.stringMatching(sentence) });
  });

  test('an API key that the server refuses', async () => {
    const { TEMPORAL_TLS_SERVER_CA_CERT_PATH = '' } = settings;
    plain.setApiKeys(['good']);
    const withKey = (key: string) =>
      target(plain, { TEMPORAL_TLS_SERVER_CA_CERT_PATH, TEMPORAL_API_KEY: key });
    expect(await probeTemporal(withKey('good'))).toBe('serving');
    expect(await probeTemporal(withKey('bad'))).toEqual({
      misconfigured: expect.stringMatching(/refuses the API key .*TEMPORAL_API_KEY.*TEMPORAL_NAMESPACE\.$/),
    });
    expect(await probeTemporal(target(plain, { TEMPORAL_TLS_SERVER_CA_CERT_PATH }))).toEqual({
      misconfigured: expect.stringMatching(/does not let us use namespace .*TEMPORAL_API_KEY/),
    });
  });

  test('and a command that only reads says so too, instead of "no server is running"', async () => {
    const { address: temporalAddress, access: temporalAccess } = target(plain, {});
    await expect(findTemporal({ home: directory, temporalAddress, temporalAccess })).rejects.toThrow(
      /TEMPORAL_TLS=true/,
    );
  });
});

test('an API key that is replaced in its file is used by clients and workers without a restart', async () => {
  const { TEMPORAL_TLS_SERVER_CA_CERT_PATH = '' } = settings;
  const keyFile = join(directory, 'key');
  await writeFile(keyFile, 'monday\n');
  const env = { TEMPORAL_TLS_SERVER_CA_CERT_PATH };
  const { namespace } = testEngines();
  const access = readTemporalProfile(env).access(keyFile, REREAD_AT_ONCE);
  plain.setApiKeys(['monday']);
  const client = await connectTemporal({ address: plain.address, access });
  const worker = await connectWorker({ address: plain.address, access }, 50);
  try {
    const ask = () =>
      Promise.all(
        [client, worker.connection].map(({ workflowService }) =>
          workflowService.describeNamespace({ namespace }),
        ),
      );
    await ask();
    await writeFile(keyFile, 'tuesday\n');
    plain.setApiKeys(['tuesday']);
    await expect.poll(() => ask().then(() => 'accepted', String), { timeout: 10_000 }).toBe('accepted');
  } finally {
    await Promise.all([client.close(), worker.close()]);
  }
});

/** Returns how to connect, and writes the key. */
const KEY_SOURCES: Record<string, (ca: string, key: string) => Promise<TemporalAccess>> = {
  'the file that temporalApiKeyFile names': async (ca, key) => {
    const file = join(directory, 'rotated-key');
    await writeFile(file, `${key}\n`);
    return readTemporalProfile({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: ca }).access(file, REREAD_AT_ONCE);
  },
  'temporal.toml': async (ca, key) => {
    const file = join(directory, 'temporal.toml');
    const profile = `[profile.default]\napi_key = "${key}"\n\n[profile.default.tls]\nserver_ca_cert_path = "${ca}"\n`;
    await writeFile(file, profile);
    return readTemporalProfile({ TEMPORAL_CONFIG_FILE: file }).access(null, REREAD_AT_ONCE);
  },
};

test.each(Object.entries(KEY_SOURCES))(
  'a worker that polls goes on with its crawl when the API key in %s is replaced',
  async (_, writeKey) => {
    const { TEMPORAL_TLS_SERVER_CA_CERT_PATH: ca = '' } = settings;
    const { namespace } = testEngines();
    const [old, next] = [`old-${randomUUID()}`, `next-${randomUUID()}`];
    const access = await writeKey(ca, old);
    plain.setApiKeys([old]);
    const web = await startWeb({ site: flatSite(30) });
    const amble = await startAmble({}, { temporalAddress: plain.address, namespace, access });
    try {
      const crawl = await amble.start({ seeds: [web.url('site')], ...web.network, delay: '300ms' });
      await expect.poll(() => web.arrivalsAt('site').length, { timeout: 30_000 }).toBeGreaterThan(3);
      await writeKey(ca, next);
      plain.setApiKeys([old, next]);
      const polls = () => plain.callsBy(next, 'PollWorkflowTaskQueue');
      await expect.poll(polls, { timeout: 30_000 }).toBeGreaterThan(0);
      plain.setApiKeys([next]);
      expect(await crawl.result()).toMatchObject({ pages: { Fetched: 31 } });
      expect(await amble.db.page.count({ where: { attempts: { not: 1 } } })).toBe(0);
    } finally {
      await amble.stop();
      await web.stop();
    }
  },
);
