/** A Postgres as in production: it accepts connections with TLS only. */
import { appendFile, chmod, chown, copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { homeAt } from '../../src/embedded/home.ts';
import { startDatabase } from '../../src/embedded/index.ts';
import type { Authority } from '../support/certificates.ts';
import { GATEWAY } from './namespaces.ts';

export interface SecurePostgres {
  /** Its clients verify that the server has a certificate of this authority for this address. */
  databaseUrl: string;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 30_000;

/** Its role may create databases. */
export async function startSecurePostgres(
  home: string,
  authority: Authority,
  notify: (line: string) => void,
): Promise<SecurePostgres> {
  const { databaseUrl, stop } = await startDatabase({ home, notify });
  const { data, record } = homeAt(home).postgres;
  const { cert, key } = await authority.issue('postgres', `DNS:localhost,IP:127.0.0.1,IP:${GATEWAY}`);
  const { uid, gid } = await stat(data);
  // The names that Postgres has for them by default.
  for (const [from, name] of [
    [cert, 'server.crt'],
    [key, 'server.key'],
  ] as const) {
    const to = join(data, name);
    await copyFile(from, to);
    await chmod(to, 0o600);
    await chown(to, uid, gid);
  }
  await appendFile(join(data, 'postgresql.conf'), 'ssl = on\n');
  const rules = join(data, 'pg_hba.conf');
  await writeFile(rules, (await readFile(rules, 'utf8')).replace(/^host /gm, 'hostssl '));
  process.kill(Number.parseInt(await readFile(record, 'utf8'), 10), 'SIGHUP');
  const secure = new URL(databaseUrl);
  // Node warns of an address as the name that TLS verifies.
  secure.hostname = 'localhost';
  secure.searchParams.set('sslmode', 'verify-full');
  secure.searchParams.set('sslrootcert', authority.ca);
  await untilOnlyTls(databaseUrl, secure.href);
  return { databaseUrl: secure.href, stop };
}

/** It reads its configuration a moment after the signal. */
async function untilOnlyTls(plain: string, secure: string): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const [withTls, without] = [await tryToConnect(secure), await tryToConnect(plain)];
    if (withTls === null && without !== null) return;
    if (Date.now() > deadline) throw new Error('Postgres does not insist on TLS.', { cause: withTls });
    await sleep(100);
  }
}

/** null: it has let us in. */
async function tryToConnect(connectionString: string): Promise<unknown> {
  const client = new pg.Client({ connectionString });
  try {
    await client.connect();
    return null;
  } catch (error) {
    return error;
  } finally {
    await client.end();
  }
}
