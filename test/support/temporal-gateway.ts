/** What stands in front of a Temporal server in production: TLS, client certificates and API keys. */
import { readFileSync } from 'node:fs';
import {
  connect,
  constants,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { CertificateFiles } from './certificates.ts';

export interface TemporalGateway {
  address: string;
  /** Keys that are accepted from now on; null: none is asked for. */
  setApiKeys(keys: readonly string[] | null): void;
  /** Calls of a method of Temporal's API with this key so far. */
  callsBy(key: string, method: string): number;
  stop(): Promise<void>;
}

export interface GatewayOptions {
  /** Address of the server behind it. */
  target: string;
  certificate: CertificateFiles;
  /** The authority of the clients' certificates; unset: they need none. */
  clientCa?: string;
}

const UNAUTHENTICATED = 16;

export async function startTemporalGateway({
  target,
  certificate,
  clientCa,
}: GatewayOptions): Promise<TemporalGateway> {
  let apiKeys: readonly string[] | null = null;
  const calls = new Map<string, number>();
  const backend = connect(`http://${target}`);
  const server = createSecureServer({
    cert: readFileSync(certificate.cert),
    key: readFileSync(certificate.key),
    ...(clientCa && { ca: readFileSync(clientCa), requestCert: true, rejectUnauthorized: true }),
  });
  server.on('stream', (stream, headers) => {
    const key = /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    const call = `${key} ${headers[':path']?.split('/').at(-1)}`;
    calls.set(call, (calls.get(call) ?? 0) + 1);
    stream.on('error', () => {});
    if (apiKeys !== null && !apiKeys.includes(key)) refuse(stream);
    else forward(stream, headers);
  });

  function refuse(stream: ServerHttp2Stream): void {
    stream.respond(
      {
        ':status': 200,
        'content-type': 'application/grpc',
        'grpc-status': UNAUTHENTICATED,
        'grpc-message': 'unknown key',
      },
      { endStream: true },
    );
  }

  function forward(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const { ':scheme': _, ':authority': __, ...rest } = headers;
    const upstream = backend.request(rest);
    upstream.on('error', () => stream.destroy());
    stream.once('close', () => upstream.close(constants.NGHTTP2_CANCEL));
    stream.pipe(upstream);
    upstream.once('response', (answer, flags) => {
      // An error without a body has its status in the headers.
      if (flags & constants.NGHTTP2_FLAG_END_STREAM) {
        stream.respond(answer, { endStream: true });
        return;
      }
      let trailers: IncomingHttpHeaders = {};
      stream.respond(answer, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers(trailers));
      upstream.once('trailers', (received) => {
        trailers = received;
      });
      upstream.pipe(stream);
    });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    setApiKeys(keys) {
      apiKeys = keys;
    },
    callsBy: (key, method) => calls.get(`${key} ${method}`) ?? 0,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.destroy();
      backend.destroy();
      await closed;
    },
  };
}
