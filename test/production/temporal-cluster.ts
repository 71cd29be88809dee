/**
 * A Temporal server as in production: on Postgres, with mutual TLS between all its parts and to its clients, and with TLS to Postgres if
 * the URL of that says so.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdir, open, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { msToTs } from '@temporalio/common/lib/time.js';
import getPort, { portNumbers } from 'get-port';
import pg from 'pg';
import { packageRoot } from '../../src/core/package-root.ts';
import { SEARCH_ATTRIBUTES } from '../../src/core/search-attributes.ts';
import { readTemporalProfile } from '../../src/temporal/access.ts';
import { connectTemporal } from '../../src/temporal/connection.ts';
import type { Authority } from '../support/certificates.ts';
import { composeService } from '../support/compose.ts';
import { findTemporalPrograms } from './go-programs.ts';

export interface TemporalCluster {
  /** What an operator sets for Amble. */
  env: Record<string, string>;
  /** kill -9. */
  kill(): Promise<void>;
  /** Starts it again, on the same ports. */
  start(): Promise<void>;
}

const NAMESPACE = 'crawls';
/** Those that deploy/postgres/create-databases.sh creates for Temporal. */
const DATABASES = ['temporal', 'temporal_visibility'];
const KEYWORD = 2;
const RETENTION_MS = 24 * 3_600_000;
/** The server keeps its ports in columns of Postgres that hold at most 32,767. */
const SMALL_PORTS = [...portNumbers(21_000, 31_000)];
const READY_WITHIN_MS = 60_000;

/** `databaseUrl`: of a role that may create databases; Temporal gets two of its own there. */
export async function createTemporalCluster(
  directory: string,
  databaseUrl: string,
  authority: Authority,
): Promise<TemporalCluster> {
  await mkdir(directory, { recursive: true });
  const { server: program, sql } = await findTemporalPrograms();
  await createSchemas(directory, sql, databaseUrl);
  const [server, client] = [await authority.issue('server'), await authority.issue('client')];
  const ports = await Promise.all(Array.from({ length: 8 }, () => getPort({ port: SMALL_PORTS })));
  const config = join(directory, 'config.yaml');
  // YAML is a superset of JSON.
  await writeFile(
    config,
    JSON.stringify(serverConfig(new URL(databaseUrl), { ...server, ca: authority.ca }, ports)),
  );
  const env = {
    TEMPORAL_ADDRESS: `127.0.0.1:${ports[0]}`,
    TEMPORAL_NAMESPACE: NAMESPACE,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.ca,
    TEMPORAL_TLS_CLIENT_CERT_PATH: client.cert,
    TEMPORAL_TLS_CLIENT_KEY_PATH: client.key,
  };
  let stop: () => Promise<void> = async () => {};
  const start = async () => {
    const logFile = join(directory, 'server.log');
    const log = await open(logFile, 'a');
    const child = spawn(program, ['--config-file', config, '--allow-no-auth', 'start'], {
      stdio: ['ignore', log.fd, log.fd],
    });
    await log.close();
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    stop = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    await setUpNamespace(env).catch(async (error: unknown) => {
      throw new Error((await readFile(logFile, 'utf8')).slice(-3_000), { cause: error });
    });
  };
  return { env, start, kill: () => stop() };
}

/** As docker-compose.yml does it, with the same script. Twice, as if the set-up were started again. */
export async function createSchemas(directory: string, sql: string, databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (const database of DATABASES) await client.query(`CREATE DATABASE ${database}`);
  await client.end();
  const { hostname, port, username, password, searchParams } = new URL(databaseUrl);
  const authority = searchParams.get('sslrootcert');
  await symlink(sql, join(directory, 'temporal-sql-tool'));
  const { command: [shell = '', script = ''] = [] } = composeService('temporal-schema');
  const env = {
    PATH: `${directory}:${process.env.PATH}`,
    SQL_HOST: hostname,
    SQL_PORT: port,
    SQL_USER: username,
    SQL_PASSWORD: password,
    ...(authority !== null && { SQL_TLS: 'true', SQL_TLS_CA_FILE: authority }),
  };
  for (let run = 1; run <= 2; run += 1)
    await promisify(execFile)(shell, [join(packageRoot, 'deploy', 'temporal', script)], { env });
}

interface Certificates {
  cert: string;
  key: string;
  ca: string;
}

function serverConfig(
  { host, username: user, password, searchParams }: URL,
  { cert, key, ca }: Certificates,
  ports: number[],
) {
  const caFile = searchParams.get('sslrootcert');
  const store = (databaseName: string) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: host,
      connectProtocol: 'tcp',
      user,
      password,
      maxConns: 20,
      ...(caFile !== null && { tls: { enabled: true, caFile, enableHostVerification: true } }),
    },
  });
  const own = { certFile: cert, keyFile: key };
  const server = { ...own, requireClientAuth: true, clientCaFiles: [ca] };
  const client = { serverName: 'localhost', rootCaFiles: [ca] };
  const service = (index: number) => ({
    rpc: { grpcPort: ports[index], membershipPort: ports[index + 4], bindOnLocalHost: true },
  });
  const frontend = `localhost:${ports[0]}`;
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'main',
      visibilityStore: 'visibility',
      numHistoryShards: Number(composeService('temporal').environment.NUM_HISTORY_SHARDS),
      datastores: { main: store('temporal'), visibility: store('temporal_visibility') },
    },
    global: {
      membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' },
      tls: { internode: { server, client }, frontend: { server, client }, systemWorker: { ...own, client } },
    },
    services: { frontend: service(0), history: service(1), matching: service(2), worker: service(3) },
    clusterMetadata: {
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: frontend },
      },
    },
    dynamicConfigClient: {
      filepath: join(packageRoot, 'deploy', 'temporal', 'dynamicconfig.yaml'),
      pollInterval: '10s',
    },
    publicClient: { hostPort: frontend },
  };
}

/** Repeated until the server is ready; what exists already stays as it is. */
async function setUpNamespace(env: TemporalCluster['env']): Promise<void> {
  const { address = '', namespace = '', access } = readTemporalProfile(env);
  const searchAttributes = Object.fromEntries(
    Object.values(SEARCH_ATTRIBUTES).map((name) => [name, KEYWORD]),
  );
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      const connection = await connectTemporal({ address, access: access(null) });
      try {
        await connection.workflowService
          .registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs(RETENTION_MS) })
          .catch(unlessExists);
        await connection.operatorService
          .addSearchAttributes({ namespace, searchAttributes })
          .catch(unlessExists);
        return;
      } finally {
        await connection.close();
      }
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(500);
    }
  }
}

function unlessExists(error: unknown): void {
  if (!/already (exists|registered)/i.test(String(error))) throw error;
}
