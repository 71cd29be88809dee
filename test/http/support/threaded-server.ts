/** A server in its own thread, which receives requests and responds while the test blocks its event loop. */
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts';

export interface ThreadedServer {
  port: number;
  /** Blocks this thread until a request has arrived at the server. */
  waitForRequest(timeoutMs: number): 'request arrived' | 'timed out';
}

const SERVE = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { cert, key, arrived } = workerData;
  const respond = (_, response) => {
    Atomics.store(arrived, 0, 1);
    Atomics.notify(arrived, 0);
    response.end();
  };
  const server = cert === null ? require('node:http').createServer(respond)
    : require('node:https').createServer({ cert, key }, respond);
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

export async function threadedServer({ secure }: { secure: boolean }): Promise<ThreadedServer> {
  const arrived = new Int32Array(new SharedArrayBuffer(4));
  const cert = secure ? CERTIFICATE : null;
  const thread = new Worker(SERVE, { eval: true, workerData: { cert, key: PRIVATE_KEY, arrived } });
  onTestFinished(async () => {
    await thread.terminate();
  });
  const port = await new Promise<number>((resolve) => void thread.once('message', resolve));
  return {
    port,
    waitForRequest: (timeoutMs) =>
      Atomics.wait(arrived, 0, 0, timeoutMs) === 'timed-out' ? 'timed out' : 'request arrived',
  };
}
