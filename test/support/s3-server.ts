/** A small server with the semantics of S3 for PUT, GET and HEAD of objects, and its faults. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * `unlisted`: as for a key without the permission to list the bucket, which must not learn that an object is missing.
 * `unreadable`: as for a key that may write objects, but not read them.
 */
export type S3Fault = 'none' | 'forbidden' | 'unreadable' | 'slow-down' | 'truncated' | 'silent' | 'unlisted';

export interface S3Server {
  endpoint: string;
  /** By name, with the bucket. */
  objects: Map<string, Buffer>;
  /** Methods and names in the order in which they came. */
  requests: string[];
  /** For all requests, or for the next ones as often as given. */
  fail(fault: S3Fault, times?: number): void;
  stop(): Promise<void>;
  /** At the same port, with the same objects. */
  start(): Promise<void>;
}

export async function startS3Server(): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  let fault: S3Fault = 'none';
  let left = Number.POSITIVE_INFINITY;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const name = decodeURIComponent(new URL(request.url ?? '/', 'http://s3').pathname.slice(1));
    requests.push(`${request.method} ${name}`);
    const current = left > 0 ? fault : 'none';
    left -= 1;
    if (current === 'silent') return;
    if (current === 'forbidden') return refuse(response, 403, 'AccessDenied');
    if (current === 'slow-down') return refuse(response, 503, 'SlowDown');
    if (!/^AWS4-HMAC-SHA256 Credential=key\//.test(request.headers.authorization ?? ''))
      return refuse(response, 403, 'InvalidAccessKeyId');
    if (request.method === 'PUT') {
      objects.set(name, Buffer.concat(chunks));
      response.writeHead(200, { etag: '"0"' }).end();
      return;
    }
    if (current === 'unreadable') return refuse(response, 403, 'AccessDenied');
    const object = objects.get(name);
    if (object === undefined)
      return current === 'unlisted'
        ? refuse(response, 403, 'AccessDenied')
        : refuse(response, 404, 'NoSuchKey');
    response.writeHead(200, { 'content-length': object.length, etag: '"0"' });
    if (request.method === 'HEAD') response.end();
    else if (current === 'truncated')
      response.write(object.subarray(0, object.length / 2), () => response.destroy());
    else response.end(object);
  });
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    start: () => listen(port),
    objects,
    requests,
    fail(next, times = Number.POSITIVE_INFINITY) {
      fault = next;
      left = times;
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function refuse(response: ServerResponse, status: number, code: string): void {
  const xml = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`;
  response.writeHead(status, { 'content-type': 'application/xml' }).end(xml);
}
