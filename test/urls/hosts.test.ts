import { describe, expect, test } from 'vitest';
import { inScope, originOf, politenessKey, zoneOf } from '../../src/urls/index.ts';

describe('the politeness key', () => {
  test.each([
    ['http://www.example.co.uk:8080/x', 'www.example.co.uk', 'example.co.uk'],
    ['https://EXAMPLE.org/', 'example.org', 'example.org'],
    ['https://example.org./', 'example.org', 'example.org'],
    ['https://ann.github.io/', 'ann.github.io', 'ann.github.io'],
    ['https://a.ann.github.io/', 'a.ann.github.io', 'ann.github.io'],
    ['https://github.io/', 'github.io', 'github.io'],
    ['http://a.b.demo.test/', 'a.b.demo.test', 'a.b.demo.test'],
    ['http://localhost:3000/', 'localhost', 'localhost'],
    ['http://127.0.0.2:81/', '127.0.0.2', '127.0.0.2'],
    ['http://[::1]:81/', '[::1]', '[::1]'],
  ])('%s: by host %s, by site %s', (url, host, site) => {
    expect(politenessKey(url, 'host')).toBe(host);
    expect(politenessKey(url, 'site')).toBe(site);
  });
});

test.each([
  ['a.b.demo.test', 'demo.test'],
  ['www.example.co.uk', 'example.co.uk'],
  ['192.0.2.1', '192.0.2.1'],
  ['[2001:db8:1:2:3:4:5:6]', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
  ['[2001:db8:1:3::1]', '2001:db8:1:3::/64'],
])('%s takes its turns, slots and memory together with all of %s', (hostname, zone) => {
  expect(zoneOf(hostname)).toBe(zone);
});

test('an origin consists of scheme, host and port', () => {
  expect(originOf('https://example.org/a?b')).toBe('https://example.org');
  expect(originOf('http://example.org:8080/')).toBe('http://example.org:8080');
});

describe('scope', () => {
  test('host: only the hosts of the seeds, with any port and scheme', () => {
    const rule = { scope: 'host', seedHosts: ['example.org', '127.0.0.2'] } as const;
    expect(inScope('https://example.org:8443/x', rule)).toBe(true);
    expect(inScope('http://127.0.0.2/', rule)).toBe(true);
    expect(inScope('https://www.example.org/', rule)).toBe(false);
    expect(inScope('http://127.0.0.3/', rule)).toBe(false);
  });

  test('site: every host of the registrable domain', () => {
    const rule = { scope: 'site', seedHosts: ['www.example.co.uk'] } as const;
    expect(inScope('https://example.co.uk/', rule)).toBe(true);
    expect(inScope('https://shop.example.co.uk/', rule)).toBe(true);
    expect(inScope('https://example.org/', rule)).toBe(false);
    expect(inScope('https://other.co.uk/', rule)).toBe(false);
  });

  test('site: an address, or a name without a public suffix, is its own site', () => {
    const rule = { scope: 'site', seedHosts: ['one.demo.test', '127.0.0.2', 'localhost'] } as const;
    expect(inScope('http://one.demo.test/', rule)).toBe(true);
    expect(inScope('http://two.demo.test/', rule)).toBe(false);
    expect(inScope('http://127.0.0.2/', rule)).toBe(true);
    expect(inScope('http://127.0.0.3/', rule)).toBe(false);
    expect(inScope('http://localhost:99/', rule)).toBe(true);
  });

  test.each(['host', 'site'] as const)('%s: many links read many seeds only once', (scope) => {
    let reads = 0;
    const hosts = Array.from({ length: 5_000 }, (_, n) => `www.seed-${n}.org`);
    const seedHosts = new Proxy(hosts, {
      get(target, key, receiver) {
        reads += 1;
        return Reflect.get(target, key, receiver);
      },
    });
    for (let n = 0; n < 100; n += 1) {
      expect(inScope(`http://www.other-${n}.org/`, { scope, seedHosts })).toBe(false);
      expect(inScope(`http://www.seed-${n}.org/`, { scope, seedHosts })).toBe(true);
    }
    expect(reads).toBeLessThan(6 * hosts.length);
  });

  test('any: everything', () => {
    expect(inScope('https://elsewhere.example/', { scope: 'any', seedHosts: [] })).toBe(true);
  });
});
