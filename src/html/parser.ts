/**
 * Parses small documents on the main thread, and large or slow ones in a thread of their own: a parse of several seconds
 * would block every fetch of this process, and the sites would be blamed for the timeouts. If a document takes too long, its
 * thread is terminated.
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
  /** Detected from the text, whatever the page declares; null if unknown. */
  detectedLanguage: string | null;
}

/** Aborting removes a document from the queue of large ones, or terminates its thread. */
export type Parse = (source: PageSource, signal?: AbortSignal) => Promise<ParsedDocument>;

/** Takes about 40 ms to parse, half of what starting a thread costs. Few pages are larger; the median is below 100 kB. */
const LARGE_BYTES = 256 * 1024;

/**
 * Limit for a small document. One that takes longer is hostile, or the machine is so busy that a thread helps. With the
 * steps that cannot be interrupted, no document holds the event loop for more than 100 ms.
 */
const MAX_INLINE_MS = 50;

/** Ten times what the largest document that is fetched should need. The worker sets its own (src/config/tuning.ts). */
const PARSE_TIMEOUT_MS = 30_000;

/** The rest of the time is for reading the document without a tree, if the tree was not finished by then. */
const TREE_SHARE = 1 / 3;

/** Memory for the tree of a large document. A thread that exceeds it ends without ending the process. */
const THREAD_HEAP_MB = 512;

/** The compiled file, also if this one runs from sources: a thread cannot load TypeScript. */
const THREAD = join(packageRoot, 'dist', 'src', 'html', 'parse-thread.js');

export function createParser({ largeBytes = LARGE_BYTES, timeoutMs = PARSE_TIMEOUT_MS } = {}): Parse {
  const oneAtATime = createKeyedLimiter(1);
  return async (source, signal) => {
    const page =
      (source.body.length < largeBytes ? parseInline(source) : null) ??
      (await oneAtATime('large', () => parseInThread(source, timeoutMs, signal), signal));
    // Not in the thread: it would load the detector's tables for every document.
    return { ...page, detectedLanguage: await detectLanguage(page.text) };
  };
}

/** Returns null if the document takes long although it is small. */
function parseInline(source: PageSource): ParsedPage | null {
  try {
    return parsePage(source, { treeTimeoutMs: MAX_INLINE_MS, throwOnTimeout: true });
  } catch (error) {
    if (error instanceof ParseTimeoutError) return null;
    throw error;
  }
}

function parseInThread(
  source: PageSource,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<ParsedPage> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(THREAD, {
      workerData: { source, treeTimeoutMs: TREE_SHARE * timeoutMs } satisfies ThreadInput,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
    });
    const giveUp = (why: unknown): void => {
      reject(why);
      void thread.terminate();
    };
    const abandon = (): void => giveUp(signal?.reason);
    const timer = setTimeout(
      () => giveUp(new Error(`Parsing took longer than ${timeoutMs / 1_000} s.`)),
      timeoutMs,
    );
    signal?.addEventListener('abort', abandon, { once: true });
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abandon);
      // Has no effect after a message, because the promise is settled then.
      reject(new Error('The thread that parsed the document ended without a result.'));
    });
  });
}
