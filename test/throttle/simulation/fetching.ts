/** The fetch activity, and a log of the requests that were really sent. */

import { type Entry, type EntryEnd, enter, leave, type Reporter, started } from '../../../src/core/gate.ts';
import { type Ask, type Lease, type LeaseUse, type Release, release } from '../../../src/throttle/index.ts';
import {
  type ClockReading,
  elapsedAtLeastMs,
  RemoteClock,
  type RemoteTime,
} from '../../../src/worker/clocks.ts';
import { startedNow } from '../support.ts';
import type { Host } from './host.ts';
import type { Machine } from './machine.ts';
import type { Site } from './site.ts';
import type { Row, Store } from './store.ts';
import type { World } from './world.ts';

/** Longest wait at the gate. */
const MAX_WAIT_MS = 2_000;
const BUSY_RETRY_MS = 250;
const MAX_CLOCK_ERROR_MS = 100;
const START_WITHIN_MS = 6_000;
/** Longest time that a report waits for the next ask of its machine: longer with longer gaps. */
const REPORT_HOLD_MS = { min: 2_000, max: 25_000 };

/** A request that was sent. */
export interface Written {
  leaseId: string;
  /** True time of its start. */
  at: number;
  gapMs: number;
  /** True time after which it must not start. */
  startBy: number;
  /** As recorded: the earliest time by Postgres's clock, and how much later it may have been. */
  early: number;
  errorMs: number;
}

/** `spent`: another run of the same task has used the lease, or may have. */
export type FetchEnd = 'fetched' | 'refused' | 'unreachable' | 'spent';

/** What the gate has to know and could not be told: the page delivers it. */
export type Undelivered = { reporter: Reporter; end: EntryEnd; report: () => void };

type Ended = (end: FetchEnd, undelivered?: Undelivered) => void;

/** A lease in the hands of one run of its task. */
type UsedLease = Lease & Pick<Entry, 'passId'> & { usable: () => boolean };

/** The row as a machine knows it. It may have changed since. */
interface Reading {
  row: Row;
  /** Postgres's. */
  clock: RemoteTime;
}

interface Passed {
  gapMs: number;
  openedAt: number;
  /** As it was written. */
  reading: Reading;
}

export class Wire {
  readonly written: Written[] = [];
  /** All connection attempts. The site notices those that failed or came too late as well. */
  readonly connections: Array<Pick<Written, 'leaseId' | 'at' | 'startBy'>> = [];
  readonly #running = new Map<string, { machine: Machine; run: number }>();
  readonly #world: World;
  readonly #host: Host;
  readonly #store: Store;
  readonly #site: Site;
  #fetches = 0;
  /** Why the gate refused requests. */
  readonly refusals = new Set<string>();
  /** How often a request had to wait at the gate. */
  delayed = 0;

  constructor(world: World, host: Host, store: Store, site: Site) {
    this.#world = world;
    this.#host = host;
    this.#store = store;
    this.#site = site;
  }

  /** Leases whose fetch is really running. */
  running(): string[] {
    return [...this.#running].filter(([, { machine, run }]) => machine.run === run).map(([id]) => id);
  }

  /** Then it reaches no server either. */
  isCutOff(machine: Machine): boolean {
    return this.#store.isCutOff(machine);
  }

  /** The row is read together with other things, some time before it is needed. */
  fetch(machine: Machine, granted: Lease, usable: () => boolean, ended: Ended): void {
    this.#fetches += 1;
    const lease = { ...granted, passId: `run ${this.#fetches}`, usable };
    this.#read(
      machine,
      (reading) => {
        const laterMs = this.#world.fault(0.3) ? this.#world.between(1, 1_500) : 0;
        machine.after(laterMs, () => this.#enter(machine, lease, ended, { known: reading, waitedMs: 0 }));
      },
      () => this.#refuse(machine, lease, ended, 'no database'),
    );
  }

  #read(machine: Machine, receive: (reading: Reading) => void, fail: () => void): void {
    const before = machine.read();
    this.#store.query(
      machine,
      () => this.#store.read(),
      (row) => {
        const read = new RemoteClock(row.now, before, machine.read(), () => machine.read());
        receive({ row, clock: machine.databaseClock.add(read) });
      },
      fail,
    );
  }

  #refuse(machine: Machine, lease: Lease, ended: Ended, reason: string): void {
    this.refusals.add(reason);
    this.report(machine, lease, { kind: 'unused', ...(reason === 'busy' && { busy: true }) });
    ended('refused');
  }

  #leaveUnused(machine: Machine, lease: UsedLease, ended: Ended, reason: string): void {
    const report = () => this.report(machine, lease, { kind: 'unused' });
    this.refusals.add(reason);
    this.#conclude(machine, lease, { end: { kind: 'unused' }, report }, (undelivered) =>
      ended('refused', undelivered),
    );
  }

  #enter(
    machine: Machine,
    lease: UsedLease,
    ended: Ended,
    { known, waitedMs }: { known: Reading | null; waitedMs: number },
  ): void {
    const refuse = (reason: string) => this.#refuse(machine, lease, ended, reason);
    const waitFor = (ms: number, reason: string, reading: Reading | null) => {
      this.delayed += 1;
      if (waitedMs + ms > MAX_WAIT_MS) refuse(reason);
      else {
        const next = { known: reading, waitedMs: waitedMs + ms };
        machine.after(ms, () => this.#enter(machine, lease, ended, next));
      }
    };
    const again = () => this.#enter(machine, lease, ended, { known: null, waitedMs });
    const fail = () => this.#leaveUnused(machine, lease, ended, 'no database');
    const decide = (reading: Reading) => {
      if (!lease.usable()) return refuse('too late');
      const { row, clock } = reading;
      const verdict = enter(row.gate, row.rules, this.#entryOf(lease), clock.atLeast());
      if (verdict.kind === 'wait') return waitFor(verdict.ms, 'gap', reading);
      if (verdict.kind === 'go') {
        const { gapMs, openedAt, gate } = verdict;
        const written = { ...reading, row: { ...row, gate, revision: row.revision + 1 } };
        return this.#store.query(
          machine,
          () => this.#pass(row, lease, gate),
          (isIn) => {
            if (isIn) this.#whenOpened(machine, lease, { gapMs, openedAt, reading: written }, ended);
            else again();
          },
          fail,
        );
      }
      // A refusal may be outdated.
      if (reading === known) return again();
      if (verdict.kind === 'spent') {
        this.refusals.add('spent');
        return ended('spent');
      }
      return verdict.kind === 'void' ? refuse(verdict.reason) : waitFor(BUSY_RETRY_MS, 'busy', null);
    };
    if (known !== null) decide(known);
    else this.#read(machine, decide, () => refuse('no database'));
  }

  /** Tells the gate what became of a request: as a step of a page, which is repeated until it is done or the machine dies. */
  leave(machine: Machine, reporter: Reporter, end: EntryEnd, done: () => void = () => {}): void {
    const at = machine.read();
    const again = () =>
      this.#tryToLeave(machine, reporter, sinceThen(machine, end, at), null, done, () =>
        machine.after(500, again),
      );
    again();
  }

  /** Tells the gate once, and then the throttle. If the gate does not answer, the page has to. */
  #conclude(
    machine: Machine,
    lease: UsedLease,
    { end, report, known = null }: { end: EntryEnd; report: () => void; known?: Reading | null },
    ended: (undelivered?: Undelivered) => void,
  ): void {
    const at = machine.read();
    const reporter = reporterOf(lease);
    this.#tryToLeave(
      machine,
      reporter,
      end,
      known,
      () => {
        report();
        ended();
      },
      () => ended({ reporter, end: sinceThen(machine, end, at), report }),
    );
  }

  #tryToLeave(
    machine: Machine,
    reporter: Reporter,
    end: EntryEnd,
    known: Reading | null,
    done: () => void,
    fail: () => void,
  ): void {
    const update = () =>
      this.#store.update(machine, ({ gate, now }) => leave(gate, reporter, end, now), done, fail);
    if (known === null || !isExact(known)) {
      update();
      return;
    }
    const { row, clock } = known;
    const left = leave(row.gate, reporter, end, clock.atMost());
    this.#store.query(
      machine,
      () => this.#store.write(row.revision, left),
      (isWritten) => (isWritten ? done() : update()),
      fail,
    );
  }

  /** Tells the throttle: with the next ask, or by a signal if it is news or no page asks soon. */
  report(machine: Machine, lease: Lease, use: LeaseUse, more: Partial<Release> = {}): void {
    const report = { leaseId: lease.id, use, ...more };
    const isNews =
      more.crawlDelay !== undefined ||
      use.kind === 'lost' ||
      (use.kind === 'started' && (use.responseClass !== 'ok' || use.retryAfterMs !== undefined));
    if (isNews) {
      this.#signal(report);
      return;
    }
    machine.reports.push(report);
    machine.after(this.#world.between(REPORT_HOLD_MS.min, REPORT_HOLD_MS.max), () => {
      for (const held of machine.takeReports()) this.#signal(held);
    });
  }

  #signal(report: Release): void {
    const world = this.#world;
    world.send(() => this.#host.signal((state, now) => release(state, report, now, world.random)));
  }

  #pass(row: Row, lease: UsedLease, gate: Row['gate']): boolean {
    const { rules } = this.#store;
    if (!this.#store.write(row.revision, gate)) return false;
    this.#host.checkEntry(lease, rules, gate, this.running());
    return true;
  }

  #entryOf(lease: UsedLease): Entry {
    const { origin, delay, concurrency, maxFetchMs } = this.#askOf(lease);
    const { id: leaseId, passId, version, minGapMs, quick: repeatable } = lease;
    const startWithinMs = START_WITHIN_MS;
    return {
      leaseId,
      passId,
      origin,
      version,
      minGapMs,
      delayAfterMs: delay.minMs,
      concurrency,
      startWithinMs,
      maxFetchMs,
      repeatable,
    };
  }

  #isInTime({ openedAt, reading: { clock } }: Passed): boolean {
    return clock.atMost() <= openedAt + START_WITHIN_MS;
  }

  #whenOpened(machine: Machine, lease: UsedLease, passed: Passed, ended: Ended): void {
    const { openedAt, reading } = passed;
    const waitMs = openedAt - reading.clock.atLeast();
    if (waitMs > 0) machine.after(Math.ceil(waitMs), () => this.#whenOpened(machine, lease, passed, ended));
    else this.#connect(machine, lease, passed, ended);
  }

  /** Each request has its own connection here. That takes time, so the time is checked again once it is connected. */
  #connect(machine: Machine, lease: UsedLease, passed: Passed, ended: Ended): void {
    if (!this.#isInTime(passed)) {
      this.#leaveUnused(machine, lease, ended, 'too late');
      return;
    }
    const startBy = this.#store.trueTime(passed.openedAt) + START_WITHIN_MS;
    this.connections.push({ leaseId: lease.id, at: this.#world.now, startBy });
    if (!this.#site.isUp(this.#askOf(lease).origin)) {
      this.#failToConnect(machine, lease, ended);
      return;
    }
    machine.after(this.#site.connectingMs(), () => {
      if (this.#write(machine, lease, passed, ended)) return;
      const report = () => this.report(machine, lease, startedNow('unknown'));
      this.#conclude(machine, lease, { end: { kind: 'started', agoMs: 0 }, report }, (undelivered) =>
        ended('refused', undelivered),
      );
    });
  }

  /** In the same tick as the check. false: it was too late. */
  #write(machine: Machine, lease: UsedLease, passed: Passed, ended: Ended): boolean {
    if (!this.#isInTime(passed)) return false;
    const { gapMs, openedAt, reading } = passed;
    const early = this.#store.trueTime(Math.max(openedAt, reading.clock.atLeast()));
    const late = this.#store.trueTime(reading.clock.atMost());
    const startBy = this.#store.trueTime(openedAt) + START_WITHIN_MS;
    const times = { at: this.#world.now, startBy, early, errorMs: late - early };
    this.written.push({ leaseId: lease.id, gapMs, ...times });
    this.#receive(machine, lease, reading, ended);
    return true;
  }

  #failToConnect(machine: Machine, lease: UsedLease, ended: Ended): void {
    machine.after(this.#world.chance(0.5) ? 5 : 5_000, () => {
      const report = () =>
        this.report(machine, lease, startedNow('unreachable', { durationMs: 5, error: 'Refused.' }));
      this.#conclude(machine, lease, { end: { kind: 'started', agoMs: 0 }, report }, (undelivered) =>
        ended('unreachable', undelivered),
      );
    });
  }

  #askOf(lease: Lease): Ask {
    const granted = this.#host.granted.get(lease.id);
    if (!granted) throw new Error(`${lease.id} was never granted`);
    return granted.ask;
  }

  #receive(machine: Machine, lease: UsedLease, known: Reading, ended: Ended): void {
    const world = this.#world;
    const wroteAt = machine.read();
    const { concurrency, maxFetchMs } = this.#askOf(lease);
    const durationMs = this.#site.respondingMs(maxFetchMs);
    this.#running.set(lease.id, { machine, run: machine.run });
    if (concurrency > 1) {
      const agoMs = this.#agoMs(machine, wroteAt);
      this.#store.update(
        machine,
        ({ gate, now }) => started(gate, reporterOf(lease), agoMs, now),
        () => {},
        () => {},
      );
    }
    machine.after(durationMs, () => {
      this.#running.delete(lease.id);
      const agoMs = this.#agoMs(machine, wroteAt);
      const copies = world.fault(0.1) ? 2 : 1;
      const report = () => {
        for (let n = 0; n < copies; n += 1) this.#reportResponse(machine, lease, wroteAt, durationMs);
      };
      const end = { kind: 'started', agoMs, closeMs: world.oneOf(0, 1_000) } as const;
      this.#conclude(machine, lease, { end, report, known }, (undelivered) => ended('fetched', undelivered));
    });
  }

  #reportResponse(machine: Machine, lease: Lease, wroteAt: ClockReading, durationMs: number): void {
    const world = this.#world;
    const responseClass = world.fault(0.15)
      ? world.oneOf('overloaded', 'broken', 'not-found', 'client-error', 'unknown')
      : 'ok';
    const retryAfter = world.fault(0.03) ? { retryAfterMs: world.between(1_000, 90_000) } : {};
    const agoMs = this.#agoMs(machine, wroteAt);
    const use: LeaseUse = { kind: 'started', agoMs, durationMs, responseClass, ...retryAfter };
    const delayMs = world.oneOf(null, 500, 4_000);
    this.report(
      machine,
      lease,
      use,
      world.fault(0.05) ? { crawlDelay: { origin: 'https://example.org', delayMs } } : {},
    );
  }

  #agoMs(machine: Machine, wroteAt: ClockReading): number {
    if (this.#world.fault(0.03)) return this.#world.oneOf(-5_000, 1e15, Number.NaN);
    return elapsedAtLeastMs(wroteAt, machine.read());
  }
}

function reporterOf({ id: leaseId, passId }: UsedLease): Reporter {
  return { leaseId, passId };
}

/** Before the row's time is read: what passes in between makes the start look later, never earlier. */
function sinceThen(machine: Machine, end: EntryEnd, at: ClockReading): EntryEnd {
  return end.kind === 'started' ? { ...end, agoMs: end.agoMs + elapsedAtLeastMs(at, machine.read()) } : end;
}

function isExact({ clock }: Reading): boolean {
  return clock.atMost() - clock.atLeast() <= MAX_CLOCK_ERROR_MS;
}
