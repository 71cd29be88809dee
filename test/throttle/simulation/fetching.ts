/** The fetch activity, and a log of the requests that were really sent. */

import {
  type Ask,
  type Lease,
  type LeaseUse,
  type RequestStart,
  release,
  reportStarted,
} from '../../../src/throttle/index.ts';
import { type ClockReading, elapsedAtLeastMs, type StartVerdict } from '../../../src/worker/server-clock.ts';
import { startedNow } from '../support.ts';
import { DOMAIN, type Host } from './host.ts';
import type { Machine } from './machine.ts';
import type { Site } from './site.ts';
import type { World } from './world.ts';

/** A request that was sent. */
export interface Written {
  leaseId: string;
  /** True time of its start. */
  at: number;
  /** As recorded: the earliest time by the worker's knowledge, and how much later it may have been. */
  early: number;
  errorMs: number;
  /** The same machine sent the previous request and measured the gap from it. */
  measured: boolean;
}

export type FetchEnd = 'fetched' | 'refused' | 'unreachable';

export class Wire {
  readonly written: Written[] = [];
  /** All connection attempts. The site notices those that failed or came too late as well. */
  readonly connections: Array<Pick<Written, 'leaseId' | 'at'>> = [];
  readonly #running = new Map<string, { machine: Machine; run: number }>();
  readonly #world: World;
  readonly #host: Host;
  readonly #site: Site;

  constructor(world: World, host: Host, site: Site) {
    this.#world = world;
    this.#host = host;
    this.#site = site;
  }

  /** By the server's clock. */
  get now(): number {
    return this.#world.serverNow;
  }

  /** Leases whose fetch is really running. */
  running(): string[] {
    return [...this.#running].filter(([, { machine, run }]) => machine.run === run).map(([id]) => id);
  }

  fetch(machine: Machine, lease: Lease, ended: (end: FetchEnd) => void, samplesLeft = 1): void {
    const refuse = () => {
      this.send(lease, { kind: 'unused' });
      ended('refused');
    };
    const verdict = this.#check(machine, lease);
    switch (verdict.verdict) {
      case 'go':
        this.#connect(machine, lease, ended);
        break;
      case 'wait':
        machine.after(verdict.ms, () => this.fetch(machine, lease, ended, samplesLeft));
        break;
      case 'too-late':
        refuse();
        break;
      case 'no-clock': {
        if (samplesLeft === 0) {
          refuse();
          break;
        }
        let decided = false;
        const once = (act: () => void) => () => {
          if (!decided) act();
          decided = true;
        };
        machine.call(
          () => null,
          once(() => this.fetch(machine, lease, ended, samplesLeft - 1)),
        );
        machine.after(3_000, once(refuse));
        break;
      }
    }
  }

  send(lease: Lease, use: LeaseUse): void {
    this.#world.send(() =>
      this.#host.signal((state, now) => release(state, { leaseId: lease.id, use }, now, this.#world.random)),
    );
  }

  #check(machine: Machine, lease: Lease): StartVerdict {
    return machine.clock.checkStart(lease, machine.read(), machine.starts.get(DOMAIN, lease.follows));
  }

  /** Each request has its own connection here. That takes time, so the lease is checked again once it is connected. */
  #connect(machine: Machine, lease: Lease, ended: (end: FetchEnd) => void): void {
    this.connections.push({ leaseId: lease.id, at: this.#world.now });
    if (!this.#site.isUp(this.#askOf(lease)?.origin ?? '')) {
      this.#failToConnect(machine, lease, ended);
      return;
    }
    machine.after(this.#site.connectingMs(), () => {
      if (this.#write(machine, lease, ended)) return;
      this.send(lease, startedNow('unknown'));
      ended('refused');
    });
  }

  /** In the same tick as the check. false: it was too late, or too early after all. */
  #write(machine: Machine, lease: Lease, ended: (end: FetchEnd) => void): boolean {
    const verdict = this.#check(machine, lease);
    if (verdict.verdict !== 'go') return false;
    const { startedAtEarly: early, errorMs, measured } = verdict;
    this.written.push({ leaseId: lease.id, at: this.#world.now, early, errorMs, measured });
    machine.starts.record(DOMAIN, lease.id, { at: machine.read(), serverMs: early });
    this.#receive(machine, lease, Math.max(early + errorMs, lease.notBefore), ended);
    return true;
  }

  #failToConnect(machine: Machine, lease: Lease, ended: (end: FetchEnd) => void): void {
    machine.after(this.#world.chance(0.5) ? 5 : 5_000, () => {
      const use = startedNow('unreachable', { durationMs: 5, error: 'Refused.' });
      for (let n = this.#world.fault(0.1) ? 2 : 1; n > 0; n -= 1) this.send(lease, use);
      ended('unreachable');
    });
  }

  #askOf(lease: Lease): Ask | undefined {
    return this.#host.granted.get(lease.id)?.ask;
  }

  #receive(machine: Machine, lease: Lease, latestAt: number, ended: (end: FetchEnd) => void): void {
    const world = this.#world;
    const wroteAt = machine.read();
    const longest = this.#askOf(lease)?.maxFetchMs ?? 0;
    const durationMs = world.chance(0.05) ? longest * 0.99 : world.between(5, Math.min(2_000, longest));
    this.#running.set(lease.id, { machine, run: machine.run });
    if ((this.#askOf(lease)?.concurrency ?? 1) > 1) {
      const start = this.#start(machine, wroteAt, latestAt);
      world.send(() => this.#host.signal((state, now) => reportStarted(state, lease.id, start, now)));
    }
    machine.after(durationMs, () => {
      this.#running.delete(lease.id);
      const copies = world.fault(0.1) ? 2 : 1;
      for (let n = 0; n < copies; n += 1)
        this.#report(lease, this.#start(machine, wroteAt, latestAt), durationMs);
      ended('fetched');
    });
  }

  #report(lease: Lease, start: RequestStart, durationMs: number): void {
    const world = this.#world;
    const responseClass = world.fault(0.15)
      ? world.oneOf('overloaded', 'broken', 'not-found', 'client-error', 'unknown')
      : 'ok';
    const retryAfter = world.fault(0.03) ? { retryAfterMs: world.between(1_000, 90_000) } : {};
    const use: LeaseUse = { kind: 'started', ...start, durationMs, responseClass, ...retryAfter };
    const delayMs = world.oneOf(null, 500, 4_000);
    const crawlDelay = world.fault(0.05) ? { crawlDelay: { origin: 'https://example.org', delayMs } } : {};
    world.send(() =>
      this.#host.signal((state, now) =>
        release(state, { leaseId: lease.id, use, ...crawlDelay }, now, world.random),
      ),
    );
  }

  #start(machine: Machine, wroteAt: ClockReading, latestAt: number): RequestStart {
    const invalid = () => this.#world.oneOf(-5_000, 1e15, Number.NaN);
    return {
      agoMs: this.#world.fault(0.03) ? invalid() : elapsedAtLeastMs(wroteAt, machine.read()),
      latestAt: this.#world.fault(0.03) ? invalid() : latestAt,
    };
  }
}
