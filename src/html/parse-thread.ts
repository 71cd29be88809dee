/** The thread that parses one large document and ends. See parser.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { type PageSource, parsePage } from './page.ts';

export interface ThreadInput {
  source: PageSource;
  treeTimeoutMs: number;
}

const { source, treeTimeoutMs }: ThreadInput = workerData;
// A Buffer arrives as the plain Uint8Array it is made of.
parentPort?.postMessage(parsePage({ ...source, body: Buffer.from(source.body) }, { treeTimeoutMs }));
