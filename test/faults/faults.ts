/**
 * The faults. Each waits for its moment, which the test web or the database shows, breaks something, and repairs it. It returns
 * what it exposed: the pages whose fetch was in flight and could not be recorded.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Prisma } from '../../src/storage/generated/client.ts';
import type { Dependency, Injected } from './evidence.ts';
import { ANSWER_WITHIN_MS, type Lab, type LabWorker, LEASE_MS } from './lab.ts';
import type { Seeded } from './seeded.ts';
import type { FaultWeb } from './web.ts';

const POLL_INTERVAL_MS = 5;

/** How long the SDK's core takes to detect a dead connection: it sends a keepalive every 30 s and waits 15 s for the answer. */
const TEMPORAL_NOTICED_MS = 45_000;

export interface Scene {
  lab: Lab;
  web: FaultWeb;
  random: Seeded;
  /** Aborted after a time limit: if the moment never comes, that is an error, not a fault left out. */
  signal: AbortSignal;
}

type Outage = Pick<Injected, 'exposed' | 'fromMs' | 'untilMs'>;

export interface Fault {
  name: string;
  /** It looks like the site's own failure. */
  isSiteFailure?: true;
  unavailable?: Dependency;
  /** Injected by `npm test` too; the others only by a soak. */
  inEveryTest?: true;
  inject(scene: Scene): Promise<Outage>;
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'kill -9 of a worker in the middle of a fetch',
    inEveryTest: true,
    async inject({ lab, web, signal }) {
      const { worker } = await web.nextArrival(signal);
      return restartKilled(lab, await kill(lab, web, [byName(lab.workers, worker)]));
    },
  },
  {
    name: 'kill -9 of a worker between a fetch and its record',
    async inject({ lab, web, signal, random }) {
      const { worker } = await web.nextAnswer(signal);
      // The record follows the last byte by some 50 ms: over many runs, every step in between is hit.
      await sleep(random.between(0, 40));
      return restartKilled(lab, await kill(lab, web, [byName(lab.workers, worker)]));
    },
  },
  {
    name: 'kill -9 of a worker in the middle of a persist',
    inEveryTest: true,
    async inject({ lab, web, signal }) {
      const inserts = { table: 'page_crawls', mode: 'SHARE' };
      const killed = await whileWorkerWaitsFor(lab, inserts, signal, (worker) => kill(lab, web, [worker]));
      return restartKilled(lab, killed);
    },
  },
  {
    name: 'kill -9 of all workers',
    async inject({ lab, web, signal }) {
      await web.nextArrival(signal);
      return restartKilled(lab, await kill(lab, web, lab.workers));
    },
  },
  {
    name: 'SIGSTOP of a worker that holds a lease, for longer than the lease',
    inEveryTest: true,
    async inject({ lab, web, signal }) {
      // Read by every fetch after the grant and before the request.
      const reads = { table: 'robots', mode: 'ACCESS EXCLUSIVE' };
      const { worker, ...outage } = await whileWorkerWaitsFor(lab, reads, signal, async (worker) => {
        worker.process.kill('SIGSTOP');
        const atMs = Date.now();
        const exposed = await inFlight(lab, web, [worker]);
        return { worker, exposed, fromMs: atMs, untilMs: Date.now() };
      });
      await sleep(2 * LEASE_MS);
      worker.process.kill('SIGCONT');
      return outage;
    },
  },
  {
    name: 'kill -9 of the Temporal server',
    inEveryTest: true,
    unavailable: 'Temporal',
    async inject({ lab, web, random }) {
      return exposing(lab, web, async () => {
        await lab.engines.temporal.kill();
        await sleep(random.between(0, 3_000));
        await lab.engines.temporal.start();
      });
    },
  },
  {
    name: 'a network to Temporal that drops',
    unavailable: 'Temporal',
    async inject({ lab, web, random }) {
      return exposing(lab, web, async () => {
        lab.wires.temporal.cut();
        await sleep(random.between(100, 3_000));
        lab.wires.temporal.heal();
      });
    },
  },
  {
    name: 'kill -9 of Postgres',
    inEveryTest: true,
    unavailable: 'Postgres',
    async inject({ lab, web, random, signal }) {
      await web.nextAnswer(signal);
      return harmless(async () => {
        await lab.engines.postgres.kill();
        await sleep(random.between(0, 3_000));
        await lab.engines.postgres.start();
      });
    },
  },
  {
    name: 'a network to Postgres that drops',
    unavailable: 'Postgres',
    async inject({ lab, random }) {
      return harmless(async () => {
        lab.wires.postgres.cut();
        await sleep(random.between(100, 7_000));
        lab.wires.postgres.heal();
      });
    },
  },
  {
    name: 'a network to Temporal that swallows everything',
    unavailable: 'Temporal',
    async inject({ lab, web, random }) {
      return exposing(lab, web, async () => {
        lab.wires.temporal.swallow();
        await sleep(random.between(100, 10_000));
        lab.wires.temporal.heal();
        // Until the last of those connections is detected as dead, fetches may not be reported.
        await sleep(TEMPORAL_NOTICED_MS);
      });
    },
  },
  {
    name: 'a network to Postgres that swallows everything',
    unavailable: 'Postgres',
    async inject({ lab, random }) {
      return harmless(async () => {
        lab.wires.postgres.swallow();
        await sleep(random.between(100, 4_000));
        lab.wires.postgres.heal();
        // Every connection is dead now, which is detected when an answer is overdue.
        await sleep(ANSWER_WITHIN_MS);
      });
    },
  },
  {
    name: 'a database that answers slowly',
    unavailable: 'Postgres',
    async inject({ lab, random }) {
      return harmless(async () => {
        lab.wires.postgres.slowDown(random.between(100, 800));
        await sleep(4_000);
        lab.wires.postgres.heal();
      });
    },
  },
  {
    name: 'a full disk for the content store',
    unavailable: 'Content store',
    async inject({ lab, web, signal }) {
      await web.nextArrival(signal);
      return harmless(async () => {
        await lab.disk.fill();
        await sleep(3_000);
        await lab.disk.clear();
      });
    },
  },
  {
    name: 'SIGTERM of a worker: an orderly stop',
    async inject({ lab, web, signal }) {
      const { worker: name } = await web.nextArrival(signal);
      const worker = byName(lab.workers, name);
      return harmless(async () => {
        worker.process.kill('SIGTERM');
        const { code, stderr } = await worker.process.ended;
        if (code !== 0) throw new Error(`${name} ended with ${code} after SIGTERM:\n${stderr}`);
        await lab.restart(worker);
      });
    },
  },
  {
    name: 'a web that drops every connection',
    isSiteFailure: true,
    async inject({ web, signal }) {
      await web.nextArrival(signal);
      return harmless(() => web.drop(300));
    },
  },
];

type Killed = Outage & { workers: readonly LabWorker[] };

async function kill(lab: Lab, web: FaultWeb, workers: readonly LabWorker[]): Promise<Killed> {
  const atMs = Date.now();
  await Promise.all(workers.map((worker) => lab.kill(worker)));
  const exposed = await inFlight(lab, web, workers);
  return { workers, exposed, fromMs: atMs, untilMs: Date.now() };
}

async function restartKilled(lab: Lab, { workers, ...outage }: Killed): Promise<Outage> {
  await Promise.all(workers.map((worker) => lab.restart(worker)));
  return outage;
}

/** No fetch may be lost by it. */
async function harmless(disrupt: () => Promise<void>): Promise<Outage> {
  const fromMs = Date.now();
  await disrupt();
  return { exposed: [], fromMs, untilMs: Date.now() };
}

/** Without Temporal, fetches that are in flight when it goes or that end meanwhile cannot be reported. */
async function exposing(lab: Lab, web: FaultWeb, disrupt: () => Promise<void>): Promise<Outage> {
  const fromMs = Date.now();
  const before = await inFlight(lab, web, lab.workers);
  await disrupt();
  const untilMs = Date.now();
  const meanwhile = web.arrivals.filter(({ atMs, page }) => page && atMs >= fromMs && atMs <= untilMs);
  return { exposed: [...new Set([...before, ...meanwhile.map(({ url }) => url)])], fromMs, untilMs };
}

/** Pages that these workers, dead or frozen by now, have requested and that are not on record. */
async function inFlight({ db }: Lab, web: FaultWeb, workers: readonly LabWorker[]): Promise<string[]> {
  const attempts = await db.pageCrawl.findMany({
    where: { page: { url: { in: web.arrivals.map(({ url }) => url) } } },
    select: { createdAt: true, page: { select: { url: true } } },
  });
  // Only now, when the web has noticed everything that they sent before their end.
  const unknown = web.arrivals.filter(
    ({ page, worker, url, atMs }) =>
      page &&
      workers.some(({ name }) => name === worker) &&
      !attempts.some((attempt) => attempt.page.url === url && attempt.createdAt.getTime() >= atMs),
  );
  return [...new Set(unknown.map(({ url }) => url))];
}

/** Locks a table until a worker waits for it, and does the work before it releases the lock. */
async function whileWorkerWaitsFor<T>(
  { db, workers }: Lab,
  lock: { table: string; mode: string },
  signal: AbortSignal,
  work: (worker: LabWorker) => Promise<T>,
): Promise<T> {
  return db.inTransaction(async (tx) => {
    await tx.$executeRaw(Prisma.raw(`LOCK TABLE ${lock.table} IN ${lock.mode} MODE`));
    for (;;) {
      signal.throwIfAborted();
      // Outside the transaction, which might keep seeing the same snapshot.
      const [waiting] = await db.$queryRaw<{ name: string }[]>`
        SELECT a.application_name AS name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE NOT l.granted AND l.relation = ${lock.table}::regclass AND a.application_name LIKE 'worker-%'`;
      if (waiting !== undefined) return work(byName(workers, waiting.name));
      await sleep(POLL_INTERVAL_MS);
    }
  });
}

function byName(workers: readonly LabWorker[], name: string): LabWorker {
  const worker = workers.find((one) => one.name === name);
  if (worker === undefined) throw new Error(`A request came from ${name}, which is none of our workers.`);
  return worker;
}
