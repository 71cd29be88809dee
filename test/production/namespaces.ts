/** Network namespaces: machines with a network of their own, as far as programs can tell. Linux, as root. */
import { execFile } from 'node:child_process';
import { connect, createServer, type Server } from 'node:net';
import { promisify } from 'node:util';

export interface Namespaces {
  /** For each of them, what to write before a command that is to run there. */
  prefixes: string[][];
  /** The address at which all of them reach this machine. */
  gateway: string;
  /** Forwards a port there to the same port of loopback, and returns the addresses that have connected so far. */
  expose(port: number): Promise<Set<string>>;
  remove(): Promise<void>;
}

const NETWORK = '10.213.77';
export const GATEWAY = `${NETWORK}.1`;
const BRIDGE = 'amble-bridge';

async function ip(command: string): Promise<void> {
  await promisify(execFile)('ip', command.split(' '));
}

/** Rejects if this machine does not allow it. */
export async function createNamespaces(count: number): Promise<Namespaces> {
  const names = Array.from({ length: count }, (_, index) => `amble-${index}`);
  const remove = async () => {
    for (const name of names) await ip(`netns delete ${name}`).catch(() => {});
    await ip(`link delete ${BRIDGE}`).catch(() => {});
  };
  try {
    await ip(`link add ${BRIDGE} type bridge`);
    await ip(`address add ${GATEWAY}/24 dev ${BRIDGE}`);
    await ip(`link set ${BRIDGE} up`);
    for (const [index, name] of names.entries()) {
      await ip(`netns add ${name}`);
      await ip(`link add ${name} type veth peer name eth0 netns ${name}`);
      await ip(`link set ${name} master ${BRIDGE} up`);
      await ip(`-n ${name} address add ${NETWORK}.${index + 2}/24 dev eth0`);
      await ip(`-n ${name} link set eth0 up`);
      await ip(`-n ${name} link set lo up`);
    }
  } catch (error) {
    await remove();
    throw error;
  }
  const forwarders: Server[] = [];
  return {
    prefixes: names.map((name) => ['ip', 'netns', 'exec', name]),
    gateway: GATEWAY,
    async expose(port) {
      const peers = new Set<string>();
      const forwarder = createServer((from) => {
        peers.add(from.remoteAddress ?? '');
        const to = connect(port, '127.0.0.1');
        for (const socket of [from, to]) socket.on('error', () => [from, to].map((one) => one.destroy()));
        from.pipe(to).pipe(from);
      });
      forwarders.push(forwarder);
      await new Promise<void>((resolve) => forwarder.listen(port, GATEWAY, resolve));
      return peers;
    },
    async remove() {
      for (const forwarder of forwarders) forwarder.close();
      await remove();
    },
  };
}
