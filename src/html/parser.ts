/**
 * Parses small documents at once, and large or deeply nested ones in a thread of their own: a parse of seconds would stop every fetch of this
 * process, and their time-outs would be blamed on the sites. A document that takes too long is given up with its thread.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { packageRoot } from '../package-root.ts';
import { makeTurnstile } from '../turnstile.ts';
import { TooDeep } from './document.ts';
import { detectLanguage } from './language.ts';
import { type PageSource, type ParsedPage, parsePage } from './page.ts';

export interface ParsedDocument extends ParsedPage {
  /** By its text, whatever it declares; null: not known. */
  detectedLanguage: string | null;
}

export type Parse = (source: PageSource) => Promise<ParsedDocument>;

/** Takes some 20 ms: about as long as the start of a thread is worth avoiding. */
const LARGE_BYTES = 512 * 1024;

/** Ten times what the largest document that is fetched should need. */
const LONGEST_PARSE_MS = 30_000;

/** Memory for a large document's tree; a thread that wants more ends, the process does not. */
const THREAD_HEAP_MB = 512;

/** From sources there is no compiled file beside this one; the build has it. */
const THREAD = join(packageRoot, 'dist', 'src', 'html', 'parse-thread.js');

export function makeParser({ largeBytes = LARGE_BYTES, longestParseMs = LONGEST_PARSE_MS } = {}): Parse {
  const oneAtATime = makeTurnstile(1);
  return async (source) => {
    const page =
      (source.body.length < largeBytes ? parseHere(source) : null) ??
      (await oneAtATime('large', () => parseInThread(source, longestParseMs)));
    // Out here: a thread that lives for one document would load the detector's tables each time.
    return { ...page, detectedLanguage: await detectLanguage(page.text) };
  };
}

/** null: it is small, but made to take long. */
function parseHere(source: PageSource): ParsedPage | null {
  try {
    return parsePage(source, { deep: false });
  } catch (error) {
    if (error instanceof TooDeep) return null;
    throw error;
  }
}

function parseInThread(source: PageSource, longestParseMs: number): Promise<ParsedPage> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(THREAD, {
      workerData: source,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
    });
    const timer = setTimeout(() => {
      reject(new Error(`Parsing took longer than ${longestParseMs / 1_000} s.`));
      void thread.terminate();
    }, longestParseMs);
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => {
      clearTimeout(timer);
      // Has no effect after a message: the promise is settled.
      reject(new Error('The thread that parsed the document ended without a result.'));
    });
  });
}
