/**
 * gRPC waits for a server's first bytes without a limit. A connection that is begun while a network drops packets silently would stay
 * half open when the network is back, and every call would wait for it.
 */
import type { Socket } from 'node:net';
import type { ChannelCredentials, ServiceClientConstructor } from '@grpc/grpc-js';
import { Connection } from '@temporalio/client';

/** Connections whose server says nothing within this time are closed; then gRPC begins another one. */
export function withHandshakeLimit(limitMs: number): typeof Connection {
  return class extends Connection {
    static override readonly Client: ServiceClientConstructor = class extends Connection.Client {
      constructor(...[address, credentials, options]: ConstructorParameters<ServiceClientConstructor>) {
        limitHandshakes(credentials, limitMs);
        super(address, credentials, options);
      }
    };
  };
}

function limitHandshakes(credentials: ChannelCredentials, limitMs: number): void {
  const createConnector = credentials._createSecureConnector.bind(credentials);
  credentials._createSecureConnector = (...args) => {
    const connector = createConnector(...args);
    return {
      connect(socket) {
        closeIfSilent(socket, limitMs);
        return connector.connect(socket);
      },
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
    };
  };
}

function closeIfSilent(socket: Socket, limitMs: number): void {
  const timer = setTimeout(() => {
    if (socket.bytesRead === 0) socket.destroy(new Error(`The server said nothing for ${limitMs} ms.`));
  }, limitMs).unref();
  socket.once('close', () => clearTimeout(timer));
}
