import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { productToken } from '../../src/http/index.ts';
import { lookUpRobots, saveRobotsRules } from '../../src/storage/robots.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import {
  type Expected,
  failed,
  KEEP_TYPES,
  LIMITS,
  ODDITIES,
  rejected,
  timedOut,
} from './network/oddities.ts';
import { type OddWeb, startOddWeb } from './network/web.ts';

/** Oddities of the address or the connection, before anything is served. */
const PLACES: readonly { name: string; url: (web: OddWeb) => string; expected: Expected }[] = [
  {
    name: 'a closed port',
    url: (web) => `http://${web.host('closed')}:${web.closedPort}/`,
    expected: failed('refused', /was refused/),
  },
  {
    name: 'a name that cannot be looked up',
    url: () => `http://${'x'.repeat(64)}.test/`,
    expected: failed('dns', /could not be looked up/),
  },
  {
    name: 'an untrusted certificate',
    url: (web) => `https://${web.host('untrusted')}:${web.untrustedPort}/`,
    expected: failed('tls', /No secure connection to/),
  },
  {
    name: 'a connection closed during the handshake',
    url: (web) => `https://${web.host('closing')}:${web.closingPort}/`,
    expected: failed('tls', /closed the connection during the TLS handshake|No secure connection/),
  },
  {
    name: 'a handshake without a response',
    url: (web) => `https://${web.host('no-handshake')}:${web.silentPort}/`,
    expected: timedOut('connect-timeout', /Connecting to .* timed out/),
  },
  {
    name: 'the port of a mail server',
    url: (web) => `http://${web.host('mail')}:25/`,
    expected: rejected('forbidden', /port 25 belongs to another protocol/),
  },
  ...[
    ['http://169.254.169.254/latest/meta-data/', /cloud metadata address/],
    ['http://0xa9fea9fe/hex', /cloud metadata address/],
    ['http://2852039166/decimal', /cloud metadata address/],
    ['http://[fd00:ec2::254]/', /cloud metadata address/],
    ['http://0xa.1/', /10\.0\.0\.1 is a private address \(RFC 1918\)/],
    ['http://012.1/octal', /10\.0\.0\.1 is a private address/],
    ['http://0/', /unspecified address/],
    ['http://100.64.0.1/', /carrier-internal address \(RFC 6598\)/],
    ['http://[::1]/', /loopback address/],
    ['http://[::ffff:10.0.0.1]/', /private address/],
    ['http://[64:ff9b::a00:1]/', /private address/],
    ['http://[64:ff9b:1::a00:1]/', /local translation address \(RFC 8215\)/],
    ['http://[2002:a00:1::]/', /6to4 tunnel address/],
    ['http://[2001:0:a00:1::]/', /Teredo tunnel address/],
    ['http://[fe80::1]/', /link-local address/],
    ['http://224.0.0.1/', /multicast address/],
  ].map(([url, why]) => ({
    name: String(url),
    url: () => String(url),
    expected: rejected('forbidden', new RegExp(why ?? '')),
  })),
];

const NO_RULES = { body: null, statusCode: 404, freshMs: 3_600_000, maxCrawlDelayMs: 300_000 };

describe('the network layer', () => {
  let amble: Amble;
  let web: OddWeb;
  let crawlId: string;

  const oddUrl = (name: string): string => `http://${web.host(name)}:${web.port}/`;

  beforeAll(async () => {
    web = await startOddWeb(ODDITIES);
    amble = await startAmble();
    const seeds = [...ODDITIES.map(({ name }) => oddUrl(name)), ...PLACES.map(({ url }) => url(web))];
    // robots.txt is known to be absent, so that only the pages are fetched.
    const origins = new Map(seeds.map((url) => [new URL(url).origin, new URL(url).hostname]));
    for (const [origin, domain] of origins) {
      const reader = { domain, agent: productToken(amble.config.userAgent) };
      await lookUpRobots(amble.db, { origin, ...reader, claimMs: 60_000 }, null);
      await saveRobotsRules(amble.db, origin, { ...reader, ...NO_RULES });
    }
    const names = seeds.map((url) => new URL(url).hostname).filter((name) => name.endsWith(web.host('')));
    const result = await amble.crawl({
      seeds,
      resolve: names.map((name) => `${name}:127.0.0.1`),
      allowNetwork: ['127.0.0.0/8'],
      fetch: LIMITS,
      keepTypes: KEEP_TYPES,
      retry: { maximumAttempts: 1 },
    });
    crawlId = result.crawlId;
  });
  afterAll(async () => {
    await amble?.stop();
    await web?.stop();
  });

  async function resultOf(url: string) {
    const normalised = new URL(url).href;
    const page = await amble.db.page.findFirstOrThrow({
      where: { crawlId, url: normalised },
      include: { attempted: true },
    });
    expect(page.attempted).toHaveLength(1);
    const [attempt] = page.attempted;
    return {
      status: page.status,
      outcome: attempt?.outcome,
      errorKind: attempt?.errorKind,
      reason: page.reason,
      error: attempt?.error,
    };
  }

  function asExpected({ reason, ...rest }: Expected) {
    const text = reason === null ? null : expect.stringMatching(reason);
    return { ...rest, reason: text, error: text };
  }

  test.each(ODDITIES)('$name: $expected.status, $expected.errorKind', async ({ name, expected }) => {
    expect(await resultOf(oddUrl(name))).toEqual(asExpected(expected));
  });

  test('XHTML is read as XML', async () => {
    const page = await amble.db.page.findFirstOrThrow({ where: { crawlId, url: oddUrl('xhtml') } });
    expect(page.title).toBe('Found');
    expect((await resultOf(`${oddUrl('xhtml')}linked`)).status).toBe('Fetched');
  });

  test('a redirect in unescaped UTF-8 leads where a browser would go', async () => {
    const target = await resultOf(`${oddUrl('redirect-in-utf-8')}sch%C3%B6n`);
    expect(target).toEqual(asExpected(rejected('redirect', /Redirected to itself/)));
  });

  test('a redirect to an internal address is refused when it is followed', async () => {
    const expected = rejected('forbidden', /cloud metadata address/);
    expect(await resultOf('http://169.254.169.254/by-redirect')).toEqual(asExpected(expected));
  });

  test.each(PLACES)('$name: $expected.status, $expected.errorKind', async ({ url, expected }) => {
    expect(await resultOf(url(web))).toEqual(asExpected(expected));
  });
});
