import { expect, test } from 'vitest';
import type { TrapLimits } from '../../src/core/settings.ts';
import { hostBound, portBound } from '../../src/urls/index.ts';

const LIMITS: TrapLimits = {
  maxPathDepth: null,
  maxRepeats: null,
  maxPerDirectory: null,
  maxPerQuery: null,
  maxPerCalendar: null,
  maxHostsPerSite: 10,
  maxPortsPerHost: 2,
};

test.each([
  ['http://www.example.co.uk:8080/x', 'www.example.co.uk', '*.example.co.uk'],
  ['https://EXAMPLE.org./', 'example.org', '*.example.org'],
  ['https://a.ann.github.io/', 'a.ann.github.io', '*.ann.github.io'],
  ['http://a.b.demo.test/', 'a.b.demo.test', '*.demo.test'],
  ['http://wiki.internal/', 'wiki.internal', '*.wiki.internal'],
  ['http://localhost/', 'localhost', '*.localhost'],
  ['http://127.0.0.2:81/', '127.0.0.2', '*.127.0.0.2'],
])('%s counts as host %s of the site %s', (url, host, group) => {
  const expected = { host, group, limit: 10, reason: 'too many hosts of the site' };
  expect(hostBound(url, LIMITS)).toEqual(expected);
  expect(hostBound(url, { ...LIMITS, maxHostsPerSite: null })).toBeNull();
});

test.each([
  ['http://example.org:8080/', 'example.org:8080', 'example.org:*'],
  ['https://example.org.:8080/', 'example.org:8080', 'example.org:*'],
  ['http://example.org:443/', 'example.org:443', 'example.org:*'],
  ['http://[::1]:81/', '[::1]:81', '[::1]:*'],
])('%s counts as port %s of the host %s', (url, host, group) => {
  const expected = { host, group, limit: 2, reason: 'too many ports of the host' };
  expect(portBound(url, LIMITS)).toEqual(expected);
  expect(portBound(url, { ...LIMITS, maxPortsPerHost: null })).toBeNull();
});

test('the default ports of http and https are not limited', () => {
  for (const url of ['http://example.org/', 'https://example.org/', 'https://example.org:443/'])
    expect(portBound(url, LIMITS)).toBeNull();
});
