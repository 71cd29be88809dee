/** Checks whether a Temporal server answers, lets us in and has our namespace, and explains why not. */
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Connection } from '@temporalio/client';
import { causesOf, codeOf } from '../core/errors.ts';
import type { TemporalTarget } from './access.ts';
import { explainConnectionError, explainRefusal } from './explain.ts';

/** `misconfigured`: a server is there; one sentence names the setting that keeps us out. */
export type TemporalProbeResult = 'serving' | 'unreachable' | { misconfigured: string };

const CONNECT_TIMEOUT_MS = 5_000;

export async function probeTemporal(target: TemporalTarget): Promise<TemporalProbeResult> {
  const failed = await openHttp2(target);
  if (failed !== null) return failed;
  // Loaded only now: commands that find no server here need no client.
  const [client, { clientOptions }] = await Promise.all([
    import('@temporalio/client'),
    import('./connection.ts'),
  ]);
  const { address, namespace, access } = target;
  let connection: Connection | undefined;
  try {
    connection = await client.Connection.connect({
      address,
      ...clientOptions(access),
      connectTimeout: CONNECT_TIMEOUT_MS,
    });
    const { workflowService } = connection;
    await connection.withDeadline(Date.now() + CONNECT_TIMEOUT_MS, () =>
      workflowService.describeNamespace({ namespace }),
    );
    return 'serving';
  } catch (error) {
    // The SDK wraps errors of the first call, and only those.
    const refusals = causesOf(error).flatMap((cause) => explainRefusal(codeOf(cause), target) ?? []);
    return refusals[0] === undefined ? 'unreachable' : { misconfigured: refusals[0] };
  } finally {
    await connection?.close();
  }
}

/** The first bytes of an HTTP/2 client, with empty settings. */
const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);

/** The type of a frame is its fourth byte, and the first frame of a server has its settings. */
const isSettings = (chunk: Buffer): boolean => chunk[3] === 4;

/**
 * gRPC retries whatever fails until its timeout and then keeps the reason to itself; a plain connection fails at once and says
 * why. A server that refuses our certificate does so only after the handshake, hence the wait for its first bytes.
 */
function openHttp2(target: TemporalTarget): Promise<TemporalProbeResult | null> {
  return new Promise((resolve) => {
    const fail = (error: unknown): void => {
      const reason = explainConnectionError(error, target);
      resolve(reason === null ? 'unreachable' : { misconfigured: reason });
    };
    try {
      const socket = openSocket(target);
      const finish = (settle: () => void): void => {
        settle();
        socket.destroy();
      };
      socket.setTimeout(CONNECT_TIMEOUT_MS, () => finish(() => resolve('unreachable')));
      socket.once('data', (chunk) => finish(() => (isSettings(chunk) ? resolve(null) : fail(null))));
      socket.on('error', (error) => finish(() => fail(error)));
      socket.once('close', () => finish(() => fail(null)));
      socket.write(PREFACE);
    } catch (error) {
      // The address and the certificates are parsed before anything is sent.
      fail(error);
    }
  });
}

function openSocket({ address, access }: TemporalTarget): Socket {
  const { hostname, port } = new URL(`tcp://${address}`);
  const to = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 7233) };
  const tls = access?.tls ?? false;
  if (tls === false) return connect(to);
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = tls === true ? {} : tls;
  // An IP address is not a name that a client may send.
  const servername = serverNameOverride ?? (isIP(to.host) ? '' : to.host);
  return connectTls({
    ...to,
    servername,
    ALPNProtocols: ['h2'],
    ...(serverRootCACertificate && { ca: Buffer.from(serverRootCACertificate) }),
    ...(clientCertPair && { cert: Buffer.from(clientCertPair.crt), key: Buffer.from(clientCertPair.key) }),
  });
}
