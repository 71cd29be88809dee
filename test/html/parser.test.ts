import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { describe, expect, it, vi } from 'vitest';
import {
  createParser,
  type DocumentSource,
  type PageSource,
  ParseError,
  parsePage,
} from '../../src/html/index.ts';
import { NO_RULES } from '../../src/urls/index.ts';
import { documentOf } from '../support/document-of.ts';

describe('the parser', () => {
  const source = (paragraphs: number): PageSource => ({
    body: Buffer.from(`<title>Long</title>${'<p>words <a href="/x">x</a>'.repeat(paragraphs)}`),
    url: 'http://example.test/',
    contentType: 'text/html; charset=utf-8',
    token: 'Amble',
    maxLinks: 100,
    rules: NO_RULES,
  });
  const document = (paragraphs: number): DocumentSource => documentOf(source(paragraphs));

  it('returns the same for a document parsed in a thread', async () => {
    const parse = createParser({ largeBytes: 1 });
    expect(await parse(document(10))).toEqual({ ...parsePage(source(10)), detectedLanguage: 'en' });
  });

  it('does not block the event loop while it parses a large document', async () => {
    const parse = createParser();
    let ticks = 0;
    const ticking = setInterval(() => {
      ticks += 1;
    }, 1);
    const parsed = await parse(document(100_000));
    clearInterval(ticking);
    expect(parsed.title).toBe('Long');
    expect(ticks).toBeGreaterThan(10);
  });

  it('rejects a document that takes too long, and parses the next one', async () => {
    const parse = createParser({ largeBytes: 1, timeoutMs: 1 });
    await expect(parse(document(1_000))).rejects.toThrow('longer than');
    expect((await createParser({ largeBytes: 1 })(document(1))).title).toBe('Long');
  });

  it('drops an aborted document from the queue, or terminates its thread', async () => {
    const parse = createParser({ largeBytes: 1 });
    const [working, waiting] = [new AbortController(), new AbortController()];
    const first = parse(document(200_000), working.signal);
    const second = parse(document(1), waiting.signal);
    const third = parse(document(1));
    waiting.abort(new Error('not needed'));
    // While the first is being parsed.
    await expect(second).rejects.toThrow('not needed');
    working.abort(new Error('too late'));
    await expect(first).rejects.toThrow('too late');
    expect((await third).title).toBe('Long');
    await expect(parse(document(1), AbortSignal.abort(new Error('never began')))).rejects.toThrow(
      'never began',
    );
  });

  it.runIf(process.platform === 'linux')('lets everything else on the machine go first', async () => {
    const untilNice = (threads: number) =>
      vi.waitFor(() => expect(niceThreads()).toBe(threads), { timeout: 20_000, interval: 5 });
    // Those of the tests before have ended.
    await untilNice(0);
    const parsing = createParser({ largeBytes: 1 })(document(50_000));
    await untilNice(1);
    await parsing;
  });

  it('gives a document more time on a machine that does not let it work', async () => {
    const clocks = { nowMs: () => performance.now(), cpuMs: () => 0 };
    const parse = createParser({ largeBytes: 1, timeoutMs: 1, clocks });
    expect((await parse(document(1))).title).toBe('Long');
  });

  it('lets other sites go first after a slow document of a site', async () => {
    const parse = createParser({ largeBytes: 1 });
    const ended: string[] = [];
    const run = async (host: string, paragraphs: number): Promise<void> => {
      await parse({ ...document(paragraphs), url: `http://${host}/` });
      ended.push(host);
    };
    await Promise.all([
      run('a.hostile.test', 5_000),
      run('a.hostile.test', 5_000),
      run('a.hostile.test', 5_000),
      run('honest.test', 1),
      run('other.test', 1),
    ]);
    expect(ended).toEqual([
      'a.hostile.test',
      'honest.test',
      'other.test',
      'a.hostile.test',
      'a.hostile.test',
    ]);
  });

  it('reads the body of a large document only when its turn comes', async () => {
    const parse = createParser({ largeBytes: 1 });
    let deliver = (_: Buffer): void => {};
    const delivered = new Promise<Buffer>((resolve) => {
      deliver = resolve;
    });
    const first = parse({ ...document(1), readBody: () => delivered });
    const readSecond = vi.fn(document(1).readBody);
    const second = parse({ ...document(1), readBody: readSecond });
    await new Promise((resolve) => setImmediate(resolve));
    expect(readSecond).not.toHaveBeenCalled();
    deliver(source(1).body);
    await Promise.all([first, second]);
    expect(readSecond).toHaveBeenCalledOnce();
  });

  it('passes on why a body could not be read, and parses the next document', async () => {
    const parse = createParser({ largeBytes: 1 });
    const unreadable = { ...document(1), readBody: () => Promise.reject(new Error('no disk')) };
    await expect(parse(unreadable)).rejects.toThrow('no disk');
    await expect(parse(unreadable)).rejects.not.toBeInstanceOf(ParseError);
    expect((await parse(document(1))).title).toBe('Long');
  });

  it.each([
    [
      'de',
      'Der Weg führt durch den Wald hinauf zu einer kleinen Hütte, von der aus man das ganze Tal sehen kann.',
    ],
    [
      'fr',
      "Le chemin monte à travers la forêt jusqu'à une petite cabane d'où l'on peut voir toute la vallée.",
    ],
    [
      'da',
      'Stien fører gennem skoven op til en lille hytte, hvorfra man kan se hele dalen, når vejret er klart.',
    ],
    [
      null,
      '0x7f 42 == 17; 1.5e9 || 33 != 12 && 8 >> 2; 0x7f 42 == 17; 1.5e9 || 33 != 12 && 8 >> 2; 0x7f 42 == 17;',
    ],
    [null, 'Too short'],
  ])('detects the language of a text: %j', async (expected, text) => {
    const body = Buffer.from(`<html lang=en><p>${text}`);
    expect(await createParser()(documentOf({ ...source(0), body }))).toMatchObject({
      language: 'en',
      detectedLanguage: expected,
    });
  });

  it('parses a document of 10 MiB and respects the maximum of links', async () => {
    const link = (n: number) => `<p>${'words and '.repeat(40)}<a href="/${n}">more</a> words`;
    const body = Buffer.from(Array.from({ length: 25_000 }, (_, n) => link(n)).join(''));
    expect(body.length).toBeGreaterThan(10 * 1024 * 1024);
    const page = await createParser()(documentOf({ ...source(0), body, maxLinks: 10_000 }));
    expect(page.links).toHaveLength(10_000);
    expect(page.linksFound).toBe(25_000);
  }, 60_000);
});

/** Threads of this process with a lower priority than the process. */
function niceThreads(): number {
  const niceOf = (thread: string): number => {
    const [, afterName = ''] = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ');
    return Number(afterName.split(' ')[16]);
  };
  return readdirSync('/proc/self/task').filter((thread) => niceOf(thread) > getPriority()).length;
}
