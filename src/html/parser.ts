/**
 * Parses small documents at once, and large ones and those that take long in a thread of their own: a parse of seconds would
 * stop every fetch of this process, and their time-outs would be blamed on the sites. A document that takes too long is
 * given up with its thread.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createKeyedLimiter } from '../core/keyed-limiter.ts';
import { packageRoot } from '../core/package-root.ts';
import { detectLanguage } from './language.ts';
import { type PageSource, type ParsedPage, parsePage } from './page.ts';
import { ParseTimeoutError } from './parse-limits.ts';
import type { ThreadInput } from './parse-thread.ts';

export interface ParsedDocument extends ParsedPage {
  /** By its text, whatever it declares; null: not known. */
  detectedLanguage: string | null;
}

/** Aborted, it leaves the line of large documents, or ends its thread. */
export type Parse = (source: PageSource, signal?: AbortSignal) => Promise<ParsedDocument>;

/** Takes some 20 ms: about as long as the start of a thread is worth avoiding. */
const LARGE_BYTES = 512 * 1024;

/** For the tree of a small one: what then is not done was made to take long, or the machine is so busy that a thread helps. */
const LONGEST_HERE_MS = 250;

/** Ten times what the largest document that is fetched should need. Overruled by `parse.timeout`. */
const LONGEST_PARSE_MS = 30_000;

/** The rest is for reading the document without a tree, where its tree was not done by then. */
const TREE_SHARE = 1 / 3;

/** Memory for a large document's tree; a thread that wants more ends, the process does not. */
const THREAD_HEAP_MB = 512;

/** From sources there is no compiled file beside this one; the build has it. */
const THREAD = join(packageRoot, 'dist', 'src', 'html', 'parse-thread.js');

export function makeParser({ largeBytes = LARGE_BYTES, longestParseMs = LONGEST_PARSE_MS } = {}): Parse {
  const oneAtATime = createKeyedLimiter(1);
  return async (source, signal) => {
    const page =
      (source.body.length < largeBytes ? parseHere(source) : null) ??
      (await oneAtATime('large', () => parseInThread(source, longestParseMs, signal), signal));
    // Out here: a thread that lives for one document would load the detector's tables each time.
    return { ...page, detectedLanguage: await detectLanguage(page.text) };
  };
}

/** null: it is small, and would take long all the same. */
function parseHere(source: PageSource): ParsedPage | null {
  try {
    return parsePage(source, { treeMs: LONGEST_HERE_MS, orThrow: true });
  } catch (error) {
    if (error instanceof ParseTimeoutError) return null;
    throw error;
  }
}

function parseInThread(
  source: PageSource,
  longestParseMs: number,
  signal: AbortSignal | undefined,
): Promise<ParsedPage> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(THREAD, {
      workerData: { source, treeMs: TREE_SHARE * longestParseMs } satisfies ThreadInput,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
    });
    const giveUp = (why: unknown): void => {
      reject(why);
      void thread.terminate();
    };
    const abandon = (): void => giveUp(signal?.reason);
    const timer = setTimeout(
      () => giveUp(new Error(`Parsing took longer than ${longestParseMs / 1_000} s.`)),
      longestParseMs,
    );
    signal?.addEventListener('abort', abandon, { once: true });
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abandon);
      // Has no effect after a message: the promise is settled.
      reject(new Error('The thread that parsed the document ended without a result.'));
    });
  });
}
