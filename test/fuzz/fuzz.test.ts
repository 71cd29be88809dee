import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { createParser, parsePage } from '../../src/html/index.ts';
import { parseRobots, readRobotsResponse } from '../../src/robots/index.ts';
import { normaliseUrl, politenessKey, quotaOf, skipReasonFor } from '../../src/urls/index.ts';
import { loopbackAgent, send } from '../http/support/fetching.ts';
import { rawServer } from '../http/support/servers.ts';
import { documentOf } from '../support/document-of.ts';
import { randomCases } from '../support/size.ts';
import { html, noise, response, robots, SEED, url } from './arbitraries.ts';

const { crawl: settings } = loadConfig({ env: {}, cwd: '/', flags: {} });

/** Far above what any input takes on a busy machine; one that loops or backtracks takes forever. */
const HANGS_MS = 10_000;

/** Amble promises a second to a process that has a core to itself, which this one does not (see src/worker/event-loop-lag.ts). */
const MAX_BLOCKED_MS = 4_000;

function inTime<T>(work: () => T): T {
  const began = performance.now();
  const result = work();
  expect(performance.now() - began).toBeLessThan(HANGS_MS);
  return result;
}

/** monitorEventLoopDelay would miss a block before its first sample. */
function watchEventLoop(): () => number {
  let lookedAt = performance.now();
  let longest = 0;
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - lookedAt);
    lookedAt = now;
  };
  const timer = setInterval(look, 10);
  return () => {
    clearInterval(timer);
    look();
    return longest;
  };
}

describe('whatever arrives', () => {
  test('as HTML, in whatever encoding, is parsed', () => {
    const contentType = fc.oneof(
      fc.constantFrom(
        'text/html',
        'text/html; charset=utf-16',
        'text/html; charset=iso-2022-jp',
        'text/html; charset=windows-1252',
        'text/html; charset=euc-kr',
        'application/xhtml+xml',
        ';;charset="',
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.oneof(html, noise), contentType, (body, type) => {
        const page = inTime(() =>
          parsePage({
            body,
            url: 'http://example.org/dir/page',
            contentType: type,
            token: 'Amble',
            maxLinks: 50,
            rules: settings.urls,
          }),
        );
        expect(page.links.length).toBeLessThanOrEqual(50);
        expect(JSON.parse(JSON.stringify(page))).toEqual(page);
        for (const link of page.links) expect(URL.canParse(link.url)).toBe(true);
        // Postgres cannot store them.
        expect(JSON.stringify({ ...page, text: '' })).not.toContain('\\u0000');
      }),
      { seed: SEED, numRuns: randomCases(3_000) },
    );
  });

  const forgotten = (count: number) =>
    `<p>${Array.from({ length: count }, (_, n) => `<b id=${n}>`).join('')}`;

  test.each([
    ['<b>', 50_000],
    ['<div>', 50_000],
    ['<p><b class=N>', 2_000],
    ['<a href=N>', 20_000],
    ['<table><tr><td>', 5_000],
    ['<svg><g>', 20_000],
    ['<div><p></div>', 20_000],
    ['<button><p>', 10_000],
    ['</p>', 50_000],
    ['&lt;', 100_000],
    ['<!--', 50_000],
    ['<a b=N c=N d=N e=N>', 10_000],
    ['<select><option>', 20_000],
    ['<font size=N><i class=N>', 5_000],
    ['<nobr>', 5_000],
    ['<table><b>', 5_000],
    ['<form><table>', 5_000],
    ['<li><ul>', 20_000],
    ['<template>', 20_000],
    ['<ruby><rt><rb>', 10_000],
    ['<p>x', 5_000, forgotten(300)],
    ['<p>x', 120_000, forgotten(500)],
    ['</b>', 100_000, '<b><div>'.repeat(250)],
    [' aN', 80_000, '<a'],
    ['<html aN>', 40_000],
    ['<p>', 150_000, '<table>'],
    ['<a href=../../N?b&a=%7e>', 20_000, `<base href="/${'a/'.repeat(900)}">`],
    ['<td>', 125_000, '<table>'],
  ])(
    'as %j %i times, is parsed without blocking the event loop',
    async (piece, times, head = '') => {
      const text = head + Array.from({ length: times }, (_, n) => piece.replaceAll('N', `${n}`)).join('');
      const longestBlock = watchEventLoop();
      await createParser()(
        documentOf({
          body: Buffer.from(text),
          url: 'http://example.org/',
          contentType: 'text/html',
          token: 'Amble',
          maxLinks: 10_000,
          rules: settings.urls,
        }),
      );
      expect(longestBlock()).toBeLessThan(MAX_BLOCKED_MS);
    },
    60_000,
  );

  test('as a URL, is refused or normalised so that every part of a crawl can use it', () => {
    const follow = { ...settings, seedHosts: ['example.org'] };
    fc.assert(
      fc.property(fc.oneof(url, fc.string({ unit: 'binary', maxLength: 500 })), (raw) => {
        const result = inTime(() => normaliseUrl(raw, 'http://example.org/a/b', settings.urls));
        if (!result.ok) return;
        expect(normaliseUrl(result.url, undefined, settings.urls)).toEqual(result);
        inTime(() => skipReasonFor(result.url, follow));
        expect(quotaOf(result.url, settings.traps)?.name).not.toContain('#');
        expect(politenessKey(result.url, 'site')).not.toBe('');
      }),
      { seed: SEED, numRuns: randomCases(10_000) },
    );
  });

  test('as robots.txt, is parsed as rules', () => {
    const path = fc.constantFrom('/', '/a', `/${'a'.repeat(500)}`, '/%2F%', '/?a=*$');
    fc.assert(
      fc.property(fc.oneof(robots, noise), path, (body, tail) => {
        const parsed = readRobotsResponse(
          {
            kind: 'response',
            status: 200,
            headers: {},
            body,
            bodyBytes: body.length,
            cut: null,
            latencyMs: 1,
            startedAt: 0,
            durationMs: 1,
          },
          'http://example.org/robots.txt',
        );
        if (parsed.kind !== 'rules') throw new Error(`Expected rules, got ${parsed.kind}.`);
        const rules = inTime(() =>
          parseRobots(parsed.text, { origin: 'http://example.org', token: 'amble' }),
        );
        expect(inTime(() => rules.isAllowed(`http://example.org${tail}`))).toBeTypeOf('boolean');
        expect(rules.crawlDelayMs ?? 1).toBeGreaterThan(0);
      }),
      { seed: SEED, numRuns: randomCases(3_000) },
    );
  });

  test('as an HTTP response, ends as a response or as an error with a message', async () => {
    let answer: Uint8Array = Buffer.alloc(0);
    const server = await rawServer((socket) => socket.end(answer));
    const agent = loopbackAgent();
    const limits = { headersTimeoutMs: 2_000, totalTimeoutMs: 4_000, maxBodyBytes: 10_000 };
    await fc.assert(
      fc.asyncProperty(fc.oneof(response, noise), async (bytes) => {
        answer = bytes;
        const exchange = await send(`http://127.0.0.1:${server.port}/`, { agent, limits });
        if (exchange.kind === 'response') expect(exchange.body?.length ?? 0).toBeLessThanOrEqual(10_000);
        else expect(exchange).toMatchObject({ kind: 'error', message: expect.stringMatching(/\w/) });
      }),
      { seed: SEED, numRuns: randomCases(500) },
    );
  }, 300_000);
});
