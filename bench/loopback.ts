/** Addresses on loopback: on Linux all of 127.0.0.0/8 is this machine. */
import type { AddressInfo, Server } from 'node:net';

/** The n-th address of a network 127.`network`.0.0/16. */
export function loopbackAddress(network: number, n: number): string {
  const host = n + 1;
  return `127.${network}.${host >> 8}.${host & 0xff}`;
}

/** Listens on every address of this machine, the only way to listen on all of loopback, and admits nobody else. */
export async function listenOnLoopback(server: Server): Promise<number> {
  server.on('connection', (socket) => {
    if (!socket.localAddress?.startsWith('127.')) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as AddressInfo;
  return port;
}
