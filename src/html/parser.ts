/**
 * Parses small documents on the main thread, and large or slow ones in a thread of their own: a parse of several seconds
 * would block every fetch of this process, and the sites would be blamed for the timeouts. There is one thread at a time, and
 * sites take turns. If a document takes too long, its thread is terminated.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../core/errors.ts';
import { packageRoot } from '../core/package-root.ts';
import { hostnameOf, zoneOf } from '../urls/index.ts';
import { createFairTurns } from './fair-turns.ts';
import { detectLanguage } from './language.ts';
import { type PageSource, type ParsedPage, parsePage } from './page.ts';
import { Deadline, type DeadlineClocks, ParseTimeoutError, PROCESS_CLOCKS } from './parse-limits.ts';
import type { ThreadInput } from './parse-thread.ts';

export interface ParsedDocument extends ParsedPage {
  /** Detected from the text, whatever the page declares; null if unknown. */
  detectedLanguage: string | null;
}

export interface DocumentSource extends Omit<PageSource, 'body'> {
  bytes: number;
  /** Called when the document is parsed: while it waits for that, its body would only occupy memory. */
  readBody: () => Promise<Buffer>;
}

/** Aborting removes a document from the queue of large ones, or terminates its thread. */
export type Parse = (source: DocumentSource, signal?: AbortSignal) => Promise<ParsedDocument>;

/** The parser cannot handle the document, now or later. Other errors are those of reading the body, and of the signal. */
export class ParseError extends Error {
  override name = 'ParseError';
}

/** Takes about 40 ms to parse, half of what starting a thread costs. Few pages are larger; the median is below 100 kB. */
const LARGE_BYTES = 256 * 1024;

/**
 * Limit for a small document. One that takes longer is hostile, or the machine is so busy that a thread helps. With the
 * steps that cannot be interrupted, no document holds the event loop for more than 100 ms.
 */
const MAX_INLINE_MS = 50;

/** Ten times what the largest document that is fetched should need. The worker sets its own (src/config/tuning.ts). */
const PARSE_TIMEOUT_MS = 30_000;

/** How often during that time a thread is looked at: on a busy machine it gets more time, see `Deadline`. */
const TIMEOUT_CHECKS = 20;

/** The rest of the time is for reading the document without a tree, if the tree was not finished by then. */
const TREE_SHARE = 1 / 3;

/**
 * Memory for the tree of a large document. A thread that exceeds it ends without ending the process. 10 MiB of plain words, the
 * largest body that is read by default, need more than 192; with more than this, V8 collects garbage later and takes as much.
 */
const THREAD_HEAP = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/** The compiled file, also if this one runs from sources: a thread cannot load TypeScript. */
const THREAD = join(packageRoot, 'dist', 'src', 'html', 'parse-thread.js');

export function createParser({
  largeBytes = LARGE_BYTES,
  timeoutMs = PARSE_TIMEOUT_MS,
  clocks = PROCESS_CLOCKS,
} = {}): Parse {
  const inTurn = createFairTurns();
  return async ({ bytes, readBody, ...source }, signal) => {
    const parseLarge = async (): Promise<ParsedPage> =>
      parseInThread({ ...source, body: await readBody() }, { timeoutMs, clocks, signal });
    const page =
      (bytes < largeBytes ? parseInline({ ...source, body: await readBody() }) : null) ??
      (await inTurn(zoneOf(hostnameOf(source.url)), parseLarge, signal));
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
    throw new ParseError(messageOf(error), { cause: error });
  }
}

function parseInThread(
  source: PageSource,
  options: { timeoutMs: number; clocks: DeadlineClocks; signal: AbortSignal | undefined },
): Promise<ParsedPage> {
  const { timeoutMs, clocks, signal } = options;
  return new Promise((resolve, reject) => {
    const thread = new Worker(THREAD, {
      workerData: { source, treeTimeoutMs: TREE_SHARE * timeoutMs } satisfies ThreadInput,
      resourceLimits: THREAD_HEAP,
    });
    const giveUp = (why: unknown): void => {
      reject(why);
      void thread.terminate();
    };
    const abandon = (): void => giveUp(signal?.reason);
    const deadline = new Deadline(timeoutMs, clocks);
    const timer = setInterval(() => {
      if (deadline.hasPassed()) giveUp(new ParseError(`Parsing took longer than ${timeoutMs / 1_000} s.`));
    }, timeoutMs / TIMEOUT_CHECKS);
    signal?.addEventListener('abort', abandon, { once: true });
    thread.once('message', resolve);
    thread.once('error', (error) => reject(new ParseError(messageOf(error), { cause: error })));
    thread.once('exit', () => {
      clearInterval(timer);
      signal?.removeEventListener('abort', abandon);
      // Has no effect after a message, because the promise is settled then.
      reject(new ParseError('The thread that parsed the document ended without a result.'));
    });
  });
}
