/**
 * Temporal as docker-compose.yml sets it up: its scripts for schema and namespace, and its variables for the server, which reads no
 * other configuration. test/e2e/compose.test.ts runs the commands of our own services.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import getPort, { portNumbers } from 'get-port';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { packageRoot } from '../../src/core/package-root.ts';
import { startDatabase } from '../../src/embedded/index.ts';
import { findTemporalBinary } from '../../src/embedded/temporal-binary.ts';
import { connectTemporal } from '../../src/temporal/connection.ts';
import { composeService } from '../support/compose.ts';
import { scrape } from '../support/scrape.ts';
import { findTemporalPrograms, type TemporalPrograms } from './go-programs.ts';
import { createSchemas } from './temporal-cluster.ts';

/** The server keeps them in columns that hold at most 32,767. */
const freePort = async () => String(await getPort({ port: [...portNumbers(21_000, 31_000)] }));

let programs: TemporalPrograms;

/** Builds them, the first time, for which a test has too little time. */
beforeAll(async () => {
  programs = await findTemporalPrograms();
});

test('the scripts and variables of docker-compose.yml make a Temporal server that Amble can use', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'amble-compose-'));
  const postgres = await startDatabase({ home: join(directory, 'postgres'), notify: () => {} });
  onTestFinished(async () => {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  });
  const { hostname, port, username, password } = new URL(postgres.databaseUrl);
  const { server, sql } = programs;
  await createSchemas(directory, sql, postgres.databaseUrl);

  const services = ['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'];
  const ports: Record<string, string> = { FRONTEND_HTTP_PORT: await freePort() };
  for (const name of services)
    for (const kind of ['GRPC', 'MEMBERSHIP']) ports[`${name}_${kind}_PORT`] = await freePort();
  const metrics = `127.0.0.1:${await freePort()}`;
  const child = spawn(server, ['start'], {
    stdio: 'ignore',
    cwd: directory,
    env: {
      ...composeService('temporal').environment,
      POSTGRES_SEEDS: hostname,
      DB_PORT: port,
      POSTGRES_USER: username,
      POSTGRES_PWD: password,
      DYNAMIC_CONFIG_FILE_PATH: join(packageRoot, 'deploy', 'temporal', 'dynamicconfig.yaml'),
      PROMETHEUS_ENDPOINT: metrics,
      // The image finds this out itself.
      TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
      ...ports,
    },
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const address = `127.0.0.1:${ports.FRONTEND_GRPC_PORT}`;
  const connection = await vi.waitFor(() => connectTemporal({ address }), {
    timeout: 60_000,
    interval: 500,
  });
  onTestFinished(() => connection.close());
  const { historyShardCount, persistenceStore } = await connection.workflowService.getClusterInfo({});
  expect({ historyShardCount, persistenceStore }).toEqual({
    historyShardCount: 512,
    persistenceStore: 'postgres12',
  });

  const namespace = 'default';
  await symlink(
    await findTemporalBinary(process.env.AMBLE_TEMPORAL_BINARY, () => {}),
    join(directory, 'temporal'),
  );
  const { command: [shell = '', script = ''] = [], environment } = composeService('temporal-namespace');
  await promisify(execFile)(shell, [join(packageRoot, 'deploy', 'temporal', script)], {
    env: {
      ...environment,
      TEMPORAL_ADDRESS: address,
      HOME: directory,
      PATH: `${directory}:${process.env.PATH}`,
    },
  });
  await connection.workflowService.describeNamespace({ namespace });
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  expect(Object.keys(customAttributes)).toEqual(
    expect.arrayContaining(['AmbleCrawl', 'AmbleDomain', 'AmbleOutcome']),
  );
  expect((await scrape(`http://${metrics}/metrics`)).names).toContain('service_requests');
});
