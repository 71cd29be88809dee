/** The thread that parses one large document and ends. See parser.ts. */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { type PageSource, parsePage } from './page.ts';

export interface ThreadInput {
  source: PageSource;
  treeTimeoutMs: number;
}

const { source, treeTimeoutMs }: ThreadInput = workerData;
// A site can keep this thread busy all the time. On a machine that has no processor to spare, all others go first. Other systems than
// Linux would change the priority of the whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
// A Buffer arrives as the plain Uint8Array it is made of.
parentPort?.postMessage(parsePage({ ...source, body: Buffer.from(source.body) }, { treeTimeoutMs }));
