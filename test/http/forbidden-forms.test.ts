/**
 * The ways in which a page can write an address that a crawler must not contact (server-side request forgery). Each goes the way
 * of a link: it is normalised, and then requested under the default policy. None may reach a socket, and each refusal says why.
 */
import { describe, expect, test } from 'vitest';
import { createNetworkPolicy } from '../../src/http/index.ts';
import { normaliseUrl } from '../../src/urls/index.ts';
import { loopbackAgent, sendForError } from './support/fetching.ts';

const LOOPBACK = 'a loopback address (RFC 1122)';
const LOOPBACK_6 = 'a loopback address (RFC 4291)';
const PRIVATE = 'a private address (RFC 1918)';
const PRIVATE_6 = 'a private address (RFC 4193)';
const METADATA = 'a cloud metadata address (RFC 3927)';
const UNSPECIFIED = 'an unspecified address (RFC 1122)';
const UNSPECIFIED_6 = 'an unspecified address (RFC 4291)';
const COMPATIBLE = 'a deprecated IPv4-compatible address (RFC 4291)';
const LINK_LOCAL_6 = 'a link-local address (RFC 4291)';
const RESERVED_6 = 'a reserved address (RFC 4291)';

/** What a name server that helps the attacker answers. */
const NAMES: Record<string, string> = {
  localhost: '127.0.0.1',
  'app.localhost': '127.0.0.1',
  'localtest.example': '127.0.0.1',
  'v6.example': '::1',
  'mapped.example': '::ffff:127.0.0.1',
  'metadata.google.internal': '169.254.169.254',
  'router.example': '192.168.0.1',
  'nat64.example': '64:ff9b::10.0.0.1',
  'isatap.example': '2606:4700::5efe:10.0.0.1',
  'zone.example': 'fe80::1%eth0',
};

/** Hosts by the reason for which they are refused. */
const FORMS: Record<string, readonly string[]> = {
  [LOOPBACK]: [
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '127.255.255.255',
    '127.0.0.1.',
    '2130706433',
    '0x7f000001',
    '0X7F000001',
    '0x7F.0.0.1',
    '0x7f.1',
    '0x7f.0x0.0x0.0x1',
    '017700000001',
    '0177.0.0.1',
    '0177.1',
    '00177.0.0.01',
    '0177.0x0.0.1',
    '127.0x1',
    '127.0.0x0.1',
    '%31%32%37%2e%30%2e%30%2e%31',
    '127%2E0%2E0%2E1',
    '１２７.０.０.１',
    '①②⑦.⓪.⓪.①',
    '𝟏𝟐𝟕.𝟎.𝟎.𝟏',
    '127。0。0。1',
    '127．0．0．1',
    '127｡0｡0｡1',
    '127.0.0.1:80',
    'user@127.0.0.1',
    'user:password@127.0.0.1',
    'example.org@127.0.0.1',
    'example.org%40x@127.0.0.1',
    '12\t7.0.0.1',
    '127.0.\n0.1',
    '127\u00ad.0.0.1',
    '127.0.0.1\\@example.org',
    '127.0.0.1#@example.org',
    '127.0.0.1?@example.org',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::FFFF:7F00:0001]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[0000:0000:0000:0000:0000:ffff:7f00:0001]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2606:4700::5efe:127.0.0.1]',
    '[2606:4700::200:5efe:7f00:1]',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'ｌocalhost',
    'app.localhost',
    'localtest.example',
    'mapped.example',
  ],
  [LOOPBACK_6]: [
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[0000:0000:0000:0000:0000:0000:0000:0001]',
    '[::0.0.0.1]',
    '[0::1]',
    'v6.example',
  ],
  [UNSPECIFIED]: [
    '0.0.0.0',
    '0',
    '0.0',
    '0x0',
    '00',
    '0.255.255.255',
    '[::ffff:0.0.0.0]',
    '[::ffff:0:0]',
    '[64:ff9b::]',
  ],
  [UNSPECIFIED_6]: ['[::]', '[0:0:0:0:0:0:0:0]', '[::0.0.0.0]', '[0::]'],
  [COMPATIBLE]: ['[::127.0.0.1]', '[::7f00:1]', '[::10.0.0.1]', '[::a9fe:a9fe]', '[::8.8.8.8]'],
  [PRIVATE]: [
    '10.0.0.1',
    '10.255.255.255',
    '10.1',
    '167772161',
    '0xa.0.0.1',
    '0x0a000001',
    '012.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '172.1048577',
    '0xac.0x10.0.1',
    '192.168.0.1',
    '192.168.1',
    '192.11010049',
    '3232235777',
    '0xc0a80101',
    '0300.0250.1.1',
    '[::ffff:10.0.0.1]',
    '[::ffff:c0a8:101]',
    '[64:ff9b::192.168.1.1]',
    '[::ffff:0:172.16.0.1]',
    '[2606:4700::5efe:10.0.0.1]',
    '[2606:4700::200:5efe:c0a8:101]',
    'router.example',
    'nat64.example',
    'isatap.example',
  ],
  [METADATA]: [
    '169.254.169.254',
    '169.254.43518',
    '169.16689662',
    '2852039166',
    '0xa9fea9fe',
    '0xa9.0xfe.0xa9.0xfe',
    '0251.0376.0251.0376',
    '0251.254.0xa9.254',
    '１６９.２５４.１６９.２５４',
    '[::ffff:169.254.169.254]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::a9fe:a9fe]',
    '[2606:4700::5efe:169.254.169.254]',
    'metadata.google.internal',
  ],
  'a cloud metadata address (Microsoft Azure)': ['168.63.129.16', '2822734096', '[::ffff:168.63.129.16]'],
  'a cloud metadata address (RFC 4193)': ['[fd00:ec2::254]', '[fd00:0ec2:0:0:0:0:0:254]'],
  'a link-local address (RFC 3927)': ['169.254.0.1', '169.254.170.2', '[::ffff:169.254.1.1]'],
  'a carrier-internal address (RFC 6598)': ['100.64.0.1', '100.100.100.200', '100.127.255.255', '1684300800'],
  'a reserved address (RFC 6890)': ['192.0.0.1', '192.0.0.192'],
  'a reserved address (RFC 7526)': ['192.88.99.1'],
  'a documentation address (RFC 5737)': ['192.0.2.1', '198.51.100.1', '203.0.113.1'],
  'a benchmarking address (RFC 2544)': ['198.18.0.1', '198.19.255.255'],
  'a multicast address (RFC 5771)': ['224.0.0.1', '239.255.255.250', '[::ffff:224.0.0.1]'],
  'a reserved address (RFC 1112)': ['240.0.0.1', '0xf0.1'],
  'the broadcast address (RFC 919)': ['255.255.255.255', '4294967295', '0xffffffff', '037777777777'],
  [PRIVATE_6]: ['[fc00::1]', '[fd00::1]', '[FDFF::1]', '[fd12:3456:789a::5efe:8.8.8.8]'],
  [LINK_LOCAL_6]: ['[fe80::1]', '[febf::1]', '[fe80::5efe:8.8.8.8]', 'zone.example'],
  'a site-local address (RFC 3879)': ['[fec0::1]'],
  'a multicast address (RFC 4291)': ['[ff02::1]', '[ff0e::1]'],
  'a local translation address (RFC 8215)': ['[64:ff9b:1::1]', '[64:ff9b:1::10.0.0.1]'],
  'a discard-only address (RFC 6666)': ['[100::1]'],
  'a Teredo tunnel address (RFC 4380)': ['[2001::1]', '[2001:0:7f00:1::]'],
  'a reserved address (RFC 2928)': ['[2001:2::1]', '[2001:1ff::1]'],
  'a documentation address (RFC 3849)': ['[2001:db8::1]'],
  'a documentation address (RFC 9637)': ['[3fff::1]'],
  'a 6to4 tunnel address (RFC 7526)': ['[2002:7f00:1::]', '[2002:a00:1::1]', '[2002:a9fe:a9fe::]'],
  [RESERVED_6]: ['[1::1]', '[4000::1]', '[8000::1]', '[e000::1]'],
};

const ROWS = Object.entries(FORMS).flatMap(([reason, hosts]) => hosts.map((host) => [host, reason] as const));

test('the table has at least 130 forms', () => {
  expect(new Set(ROWS.map(([host]) => host)).size).toBeGreaterThanOrEqual(130);
});

describe('a link to a forbidden address contacts nothing', () => {
  test.each(ROWS)('%j is %s', async (host, reason) => {
    const target = normaliseUrl(`http://${host}/`, 'https://example.org/');
    if (!target.ok) throw new Error(`${host} was not accepted as a URL: ${target.reason}`);
    const agent = loopbackAgent({
      policy: createNetworkPolicy({ allowNetwork: [], resolve: {} }),
      lookup: async (name) => {
        const address = NAMES[name.replace(/\.$/, '')];
        if (address === undefined) throw new Error(`${name} is not in the table.`);
        return [{ address, family: address.includes(':') ? 6 : 4 }];
      },
    });
    // The address is known before the request is admitted, or found by the connection.
    for (const admit of [async () => ({ go: true }) as const, undefined]) {
      const failed = await sendForError(target.url, { agent, ...(admit && { admit }) });
      expect(failed).toMatchObject({ errorKind: 'forbidden', startedAt: null });
      expect(failed.message).toContain(reason);
    }
  });
});

describe('what is not an address is not a URL either', () => {
  test.each([
    '127.0.0.1.1',
    '256.0.0.1',
    '0x100000000',
    '127.0.0.08',
    '1.2.3.4.5',
    '[::1',
    '[::1%25eth0]',
    '[fe80::1%eth0]',
    '[::ffff:127.1]',
    '[::ffff:0x7f.0.0.1]',
    '127.0.0.1%00.example.org',
    '127.0.0.1 .example.org',
    '..127.0.0.1',
  ])('%j', (host) => {
    expect(normaliseUrl(`http://${host}/`)).toMatchObject({ ok: false, problem: 'invalid' });
  });
});
