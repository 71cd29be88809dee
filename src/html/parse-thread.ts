/** The thread that parses one large document and ends. See parser.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { type PageSource, parsePage } from './page.ts';

const { body, ...source }: PageSource = workerData;
// A Buffer arrives as the plain Uint8Array it is made of.
parentPort?.postMessage(parsePage({ ...source, body: Buffer.from(body) }));
