/** A server in a thread of its own: it answers, and hears, while the event loop of the test stands still. */
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts';

export interface ServerElsewhere {
  port: number;
  /** Stops this thread until a request has arrived over there. */
  waitForRequest(longestMs: number): 'request heard' | 'nothing came';
}

const SERVE = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { cert, key, heard } = workerData;
  const answer = (_, response) => {
    Atomics.store(heard, 0, 1);
    Atomics.notify(heard, 0);
    response.end();
  };
  const server = cert === null ? require('node:http').createServer(answer)
    : require('node:https').createServer({ cert, key }, answer);
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

export async function serverElsewhere({ secure }: { secure: boolean }): Promise<ServerElsewhere> {
  const heard = new Int32Array(new SharedArrayBuffer(4));
  const cert = secure ? CERTIFICATE : null;
  const thread = new Worker(SERVE, { eval: true, workerData: { cert, key: PRIVATE_KEY, heard } });
  onTestFinished(async () => {
    await thread.terminate();
  });
  const port = await new Promise<number>((resolve) => void thread.once('message', resolve));
  return {
    port,
    waitForRequest: (longestMs) =>
      Atomics.wait(heard, 0, 0, longestMs) === 'timed-out' ? 'nothing came' : 'request heard',
  };
}
