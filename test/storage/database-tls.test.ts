/** A Postgres whose TLS is not as DATABASE_URL says. Such a server is unavailable: nothing is wrong with the page. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { messageOf } from '../../src/core/errors.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { explainDatabaseError, isDatabaseUnavailable } from '../../src/storage/database-unavailable.ts';
import { type Authority, createAuthority } from '../support/certificates.ts';

let directory: string;
let authority: Authority;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'amble-database-tls-'));
  authority = await createAuthority(directory);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Answers a client's first message, the request for TLS, as Postgres does. `null`: it has no TLS. */
async function startServer(names: string | null): Promise<number> {
  const { cert, key } = await authority.issue('server', names ?? 'DNS:localhost');
  const secureContext = createSecureContext({ cert: await readFile(cert), key: await readFile(key) });
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(names === null ? 'N' : 'S');
      if (names !== null) new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => {});
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return port;
}

test.each([
  ['a certificate of another authority', 'DNS:localhost', false],
  ['a certificate for another name', 'DNS:other.internal', true],
  ['no TLS', null, true],
])('a Postgres with %s is unavailable, and the sentence names DATABASE_URL', async (_, names, isTrusted) => {
  const port = await startServer(names);
  const ca = isTrusted ? authority.ca : (await createAuthority(join(directory, 'other'))).ca;
  const url = `postgresql://amble:secret@localhost:${port}/amble?sslmode=verify-full&sslrootcert=${ca}`;
  const db = openDatabase(url);
  onTestFinished(() => db.$disconnect());
  const errors = await Promise.all(
    [db.$queryRaw`SELECT 1`, db.page.count()].map((asking) => asking.catch((error: unknown) => error)),
  );
  for (const error of errors) {
    expect(isDatabaseUnavailable(error), messageOf(error)).toBe(true);
    const sentence = messageOf(explainDatabaseError(error, url));
    expect(sentence).toMatch(/^Postgres at localhost:\d+ .*TLS.*DATABASE_URL/);
    expect(sentence).not.toContain('secret');
  }
});
