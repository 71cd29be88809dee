/** Amble as a fleet: a real Temporal server with mutual TLS, Postgres with TLS, a real S3 server, and any number of workers. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { packageRoot } from '../../src/core/package-root.ts';
import { findTemporalBinary } from '../../src/embedded/temporal-binary.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { cleanEnvironment, type RunningProgram, startProgram, tuningVariable } from '../e2e/support.ts';
import { createAuthority } from '../support/certificates.ts';
import { startSecurePostgres } from './postgres.ts';
import { S3_KEYS, type S3Gateway, startS3Gateway } from './s3-gateway.ts';
import { createTemporalCluster, type TemporalCluster } from './temporal-cluster.ts';

export interface Fleet {
  cluster: TemporalCluster;
  s3: S3Gateway;
  /** Of the bucket, on the disk of the S3 server. */
  bucketDirectory: string;
  db: Database;
  /** What every machine of the fleet has set. */
  env: Record<string, string>;
  /** Starts a command of Amble, with a home of its own as on a machine of its own. */
  start(args: readonly string[], machine?: Machine): RunningProgram;
  /** Runs it to its end, and returns what it wrote. */
  run(...args: string[]): Promise<string>;
  startWorker(machine?: Machine): Promise<RunningProgram>;
  /** By Temporal's CLI: `amble crawl` would run a worker of its own. */
  startCrawl(crawlId: string, seeds: readonly string[], resolve: readonly string[]): Promise<void>;
  waitForEnd(crawlId: string): Promise<void>;
  /** Temporal's own CLI. */
  temporal(...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

export interface Machine {
  /** What only this machine has set. */
  env?: Record<string, string>;
  /** A command that runs the program which its arguments name. */
  inside?: readonly string[];
}

/** A crawl takes half a minute on two cores. */
const CRAWL_TIMEOUT_MS = 180_000;
/** Between two requests to a host. */
export const DELAY_MS = 1_000;
const BUCKET_NAME = 'bodies';
export const BUCKET = `s3://${BUCKET_NAME}/2026`;

export async function startFleet(): Promise<Fleet> {
  const directory = await mkdtemp(join(tmpdir(), 'amble-production-'));
  const notify = (line: string) => void process.stderr.write(`${line}\n`);
  const authority = await createAuthority(join(directory, 'certificates'));
  const postgres = await startSecurePostgres(join(directory, 'postgres'), authority, notify);
  const db = openDatabase(postgres.databaseUrl);
  const cluster = await createTemporalCluster(join(directory, 'temporal'), postgres.databaseUrl, authority);
  await cluster.start();
  const s3 = await startS3Gateway(join(directory, 's3'), BUCKET_NAME);
  const temporalBinary = await findTemporalBinary(process.env.AMBLE_TEMPORAL_BINARY, notify);
  const running: RunningProgram[] = [];
  const env = {
    ...cleanEnvironment(),
    ...cluster.env,
    ...S3_KEYS,
    ...tuningVariable({ crawl: { sweepIntervalMs: 1_000 } }),
    AWS_ENDPOINT_URL: s3.url,
    AMBLE_CONTENT_STORE: BUCKET,
    DATABASE_URL: postgres.databaseUrl,
    AMBLE_DELAY: `${DELAY_MS}ms`,
    AMBLE_RETRY_INITIAL_INTERVAL: '1s',
    AMBLE_ALLOW_NETWORK: '127.0.0.0/8',
  };
  const temporal: Fleet['temporal'] = async (...args) =>
    (await promisify(execFile)(temporalBinary, args, { env })).stdout;
  const start: Fleet['start'] = (args, machine = {}) => {
    const home = join(directory, `home-${running.length}`);
    const [program = '', ...rest] = [
      ...(machine.inside ?? []),
      process.execPath,
      join(packageRoot, 'dist', 'src', 'cli.js'),
      ...args,
      '--home',
      home,
    ];
    const started = startProgram(program, rest, { cwd: directory, env: { ...env, ...machine.env } });
    running.push(started);
    return started;
  };
  return {
    cluster,
    s3,
    bucketDirectory: join(directory, 's3', BUCKET_NAME),
    db,
    env,
    start,
    async run(...args) {
      const { code, stdout, stderr } = await start(args).ended;
      expect(code, stderr).toBe(0);
      return stdout;
    },
    async startWorker(machine) {
      const worker = start(['worker'], machine);
      await worker.waitForStderr(/Worker ready: .*namespace crawls/);
      return worker;
    },
    temporal,
    async startCrawl(crawlId, seeds, resolve) {
      const options = ['--type', 'Crawl', '--task-queue', 'amble', '--workflow-id', crawlId];
      await temporal('workflow', 'start', ...options, '--input', JSON.stringify({ seeds, resolve }));
    },
    async waitForEnd(crawlId) {
      const ended = () => db.crawl.count({ where: { id: crawlId, finishedAt: { not: null } } });
      await expect.poll(ended, { timeout: CRAWL_TIMEOUT_MS }).toBe(1);
    },
    async stop() {
      for (const program of running) program.kill('SIGKILL');
      await Promise.all(running.map(({ ended }) => ended));
      await cluster.kill();
      await s3.kill();
      await db.$disconnect();
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
