import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LiveFeeds } from '../../src/server/live.ts';

const TICK_MS = 5;

/** A page that is another one each time it is rendered. */
function countingPage(): { render: () => Promise<string>; renders: () => number } {
  let renders = 0;
  return {
    async render() {
      renders += 1;
      return `version ${renders}`;
    },
    renders: () => renders,
  };
}

test('fifty browsers at one address cost one load per tick and see the same', async () => {
  const feeds = new LiveFeeds(TICK_MS);
  const page = countingPage();
  const left = new AbortController();
  const seen = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const versions: string[] = [];
      for await (const html of feeds.follow('/now', page.render, left.signal)) {
        versions.push(html);
        if (versions.length === 5) break;
      }
      return versions;
    }),
  );
  expect(new Set(seen.map((versions) => versions.join()))).toHaveProperty('size', 1);
  expect(page.renders()).toBe(5);
});

test('a page that does not change is not sent again', async () => {
  const feeds = new LiveFeeds(TICK_MS);
  const left = new AbortController();
  let renders = 0;
  const sent: string[] = [];
  const render = async () => {
    renders += 1;
    if (renders === 5) left.abort();
    return 'the same';
  };
  for await (const html of feeds.follow('/now', render, left.signal)) sent.push(html);
  expect(sent).toEqual(['the same']);
});

test('nothing is loaded once the last browser has left, and loading starts again with the next', async () => {
  const feeds = new LiveFeeds(TICK_MS);
  const page = countingPage();
  const followOnce = async () => {
    const left = new AbortController();
    for await (const html of feeds.follow('/now', page.render, left.signal)) return html;
    return '';
  };
  expect(await followOnce()).toBe('version 1');
  expect(feeds.followers).toBe(0);
  await sleep(10 * TICK_MS);
  expect(page.renders()).toBe(1);
  expect(await followOnce()).toBe('version 2');
});

test('a slow reader gets the newest version, not all of them', async () => {
  const feeds = new LiveFeeds(TICK_MS);
  const page = countingPage();
  const left = new AbortController();
  const seen: string[] = [];
  for await (const html of feeds.follow('/now', page.render, left.signal)) {
    seen.push(html);
    if (seen.length === 2) break;
    while (page.renders() < 6) await sleep(TICK_MS);
  }
  expect(seen).toEqual(['version 1', 'version 6']);
});
