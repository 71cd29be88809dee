import { describe, expect, it } from 'vitest';
import { makeParser, type PageSource, parsePage } from '../../src/html/index.ts';

describe('the parser', () => {
  const source = (paragraphs: number): PageSource => ({
    body: Buffer.from(`<title>Long</title>${'<p>words <a href="/x">x</a>'.repeat(paragraphs)}`),
    url: 'http://example.test/',
    contentType: 'text/html; charset=utf-8',
    maxLinks: 100,
  });

  it('gives the same result for a large document, in its thread, as for a small one', async () => {
    const parse = makeParser({ largeBytes: 1 });
    expect(await parse(source(10))).toEqual(parsePage(source(10)));
  });

  it('lets the event loop run while a large document is parsed', async () => {
    const parse = makeParser();
    let ticks = 0;
    const ticking = setInterval(() => {
      ticks += 1;
    }, 1);
    const parsed = await parse(source(100_000));
    clearInterval(ticking);
    expect(parsed.title).toBe('Long');
    expect(ticks).toBeGreaterThan(10);
  });

  it('gives a document up that takes too long, and parses the next one', async () => {
    const parse = makeParser({ largeBytes: 1, longestParseMs: 1 });
    await expect(parse(source(1_000))).rejects.toThrow('longer than');
    expect((await makeParser({ largeBytes: 1 })(source(1))).title).toBe('Long');
  });
});
