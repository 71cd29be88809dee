/** Real servers on loopback, closed when their test ends. */
import http from 'node:http';
import net from 'node:net';
import tls from 'node:tls';
import { onTestFinished } from 'vitest';
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts';

export interface RawServer {
  port: number;
  /** Every byte received so far on all connections, decrypted. */
  received(): string;
  connections(): number;
  /** When the first connection has closed, so that nothing more can arrive. */
  firstClosed: Promise<void>;
}

/** Sends raw bytes that an HTTP library would not send. With `secure`, over TLS as secure.test. */
export async function rawServer(
  onRequest: (socket: net.Socket) => void,
  { secure = false, address = '127.0.0.1', onConnected = (_: net.Socket): void => {} } = {},
): Promise<RawServer> {
  let received = '';
  const sockets: net.Socket[] = [];
  const serve = (socket: net.Socket): void => {
    socket.on('error', () => socket.destroy());
    onConnected(socket);
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      onRequest(socket);
    });
  };
  const server = secure
    ? tls.createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, serve)
    : net.createServer(serve);
  const firstClosed = new Promise<void>((resolve) => {
    server.on('connection', (socket: net.Socket) => {
      sockets.push(socket);
      if (sockets.length === 1) socket.once('close', () => resolve());
    });
  });
  const port = await listen(server, address);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { port, received: () => received, connections: () => sockets.length, firstClosed };
}

export async function httpServer(handler: http.RequestListener): Promise<number> {
  const server = http.createServer(handler);
  const port = await listen(server);
  onTestFinished(() => server.closeAllConnections());
  return port;
}

/** A port on which nothing listens: it was just released, and the system does not reuse it soon. */
export async function closedPort(): Promise<number> {
  const server = net.createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function listen(server: net.Server, address = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, address, resolve);
  });
  onTestFinished(() => void server.close());
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The test server has no port.');
  return bound.port;
}
