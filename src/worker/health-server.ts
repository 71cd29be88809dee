/** Whether a worker process is alive, and whether it can do its work: for containers. */
import { createServer } from 'node:http';
import { BadInput, codeOf } from '../core/errors.ts';

export interface HealthServer {
  close(): void;
}

/** `whyNotReady`: nothing if the worker can do its work. */
export async function startHealthServer(
  { host, port }: { host: string; port: number },
  whyNotReady: () => string[],
): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const reply = (status: number, text: string): void => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
    };
    if (request.url === '/healthz') return reply(200, 'ok');
    if (request.url !== '/readyz') return reply(404, 'There are /healthz and /readyz.');
    const reasons = whyNotReady();
    return reasons.length === 0 ? reply(200, 'ready') : reply(503, reasons.join('\n'));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new BadInput(
          `The health of the worker cannot be served at ${host}:${port} (health.listen): ${codeOf(error)}.`,
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
  // The process ends when its work does.
  server.unref();
  return {
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
