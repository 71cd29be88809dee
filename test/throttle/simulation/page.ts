/** A CrawlPage that needs one request. It asks, sleeps until its slot, passes its lease to a worker, and starts over if that fails. */
import { REPEAT_WITHIN_MS } from '../../../src/core/gate.ts';
import { LEAD_MS, MAX_STAY_MS } from '../../../src/core/slot-protocol.ts';
import type { Ask, Lease, SlotAnswer } from '../../../src/throttle/index.ts';
import { elapsedAtMostMs } from '../../../src/worker/clocks.ts';
import type { FetchEnd, Undelivered, Wire } from './fetching.ts';
import type { Host, Receiver } from './host.ts';
import type { Machine } from './machine.ts';
import type { World } from './world.ts';

const HEARTBEAT_MS = 5_000;
/** After this time the server repeats a workflow task that nobody has extended. */
const TASK_TIMEOUT_MS = 10_000;
/** The activity that asks is retried after this time. */
const ASK_TIMEOUT_MS = 5_000;
const REFUSALS_BEFORE_PAUSE = 3;
const PAUSE_MS = 5_000;

export class Page implements Receiver {
  readonly #world: World;
  readonly #host: Host;
  readonly #wire: Wire;
  readonly #machines: [Machine, ...Machine[]];
  readonly #template: Omit<Ask, 'ticket'>;
  #tickets = 0;
  #ticket = '';
  #refusals = 0;
  #state: 'idle' | 'asking' | 'asleep' | 'fetching' = 'idle';
  #timer = 0;
  #lease: Lease | null = null;
  closed = false;
  /** So far. */
  asks = 0;

  constructor(
    world: World,
    host: Host,
    wire: Wire,
    machines: [Machine, ...Machine[]],
    template: Omit<Ask, 'ticket'>,
  ) {
    this.#world = world;
    this.#host = host;
    this.#wire = wire;
    this.#machines = machines;
    this.#template = template;
    host.pages.set(template.workflowId, this);
  }

  wantSlot(): void {
    this.#tickets += 1;
    this.#ticket = `${this.#template.workflowId}/${this.#tickets}`;
    this.#lease = null;
    this.#ask();
  }

  /** What is asked for it when it is admitted. */
  askFor(admission: string): Ask {
    return { ...this.#template, ticket: `${admission}/${this.#template.workflowId}` };
  }

  /** Starts with the answer to that ask, or without one. */
  start({ ticket }: Ask, answer: SlotAnswer | undefined): void {
    this.#tickets = 1;
    this.#ticket = ticket;
    if (answer === undefined || answer.kind === 'down') {
      this.#ask();
      return;
    }
    this.#state = 'asking';
    this.asks = 1;
    this.#answered(answer);
  }

  /** Ends while it waits for its slot, with or without returning it. */
  leave(): void {
    if (this.#state !== 'asking' && this.#state !== 'asleep') return;
    this.#state = 'idle';
    this.closed = true;
    if (this.#lease && this.#world.chance(0.7)) this.#giveBack(this.#lease);
  }

  /** The signal `askAgain`: its slot was taken back, or a slot may be free. */
  askAgain(): void {
    if (this.#state !== 'asleep') return;
    this.wantSlot();
  }

  #anyMachine(): Machine {
    const [first, ...others] = this.#machines;
    return this.#world.oneOf(first, ...others);
  }

  /** An activity asks; it is retried with the same update id until it gets an answer, the recorded one if there is one. */
  #ask(): void {
    this.#state = 'asking';
    this.asks += 1;
    const asked = { ...this.#template, ticket: this.#ticket };
    const updateId = `${asked.ticket}:${this.asks}`;
    const isCurrent = () => this.#state === 'asking' && updateId === `${this.#ticket}:${this.asks}`;
    const send = () => {
      if (!isCurrent()) return;
      const machine = this.#anyMachine();
      const reports = machine.takeReports();
      machine.call<SlotAnswer[]>(
        (answer) => this.#host.ask([asked], reports, updateId, answer),
        ([answer]) => {
          if (answer && isCurrent()) this.#answered(answer);
        },
      );
      this.#world.after(ASK_TIMEOUT_MS, send);
    };
    send();
  }

  #answered(answer: SlotAnswer): void {
    switch (answer.kind) {
      case 'granted':
        this.#lease = answer.lease;
        if (this.#stays(answer.lease)) this.#passOn(answer.lease);
        else this.#sleepUntil(answer.lease.notBefore - LEAD_MS, () => this.#passOn(answer.lease));
        break;
      case 'later':
        this.#sleepUntil(answer.retryAt, () => this.#ask());
        break;
      case 'down':
        this.closed = answer.givenUp;
        this.#state = 'idle';
        if (!answer.givenUp) this.#world.after(answer.retryAt - this.#world.now, () => this.wantSlot());
    }
  }

  /** Waits for its slot within the workflow task. */
  #stays({ quick, notBefore }: Lease): boolean {
    return quick && notBefore - this.#world.serverNow <= MAX_STAY_MS && this.#world.chance(0.8);
  }

  #sleepUntil(at: number, wake: () => void): void {
    this.#state = 'asleep';
    this.#timer += 1;
    const timer = this.#timer;
    const ms = at - this.#world.now;
    this.#world.after(ms > 0 ? ms + this.#world.between(0, 20) : 0, () => {
      if (this.#state === 'asleep' && timer === this.#timer) wake();
    });
  }

  /** A step of the page, which is retried until it is done. */
  #giveBack(lease: Lease): void {
    const machine = this.#anyMachine();
    this.#leave(machine, lease, 'unused');
    this.#wire.report(machine, lease, { kind: 'unused' });
  }

  /** The page knows its lease, but not which run of a task has used it. */
  #leave(machine: Machine, { id: leaseId }: Lease, kind: 'unused' | 'lost'): void {
    this.#wire.leave(machine, { leaseId, passId: null }, { kind });
  }

  #passOn(lease: Lease): void {
    const world = this.#world;
    this.#state = 'fetching';
    if (lease.quick) {
      this.#runTask(lease);
      return;
    }
    const inQueueMs = world.fault(0.08) ? world.between(0, 40_000) : world.between(1, 60);
    const leftMs = lease.startBy - world.now;
    const scheduledAt = world.serverNow;
    if (inQueueMs >= leftMs) {
      // Schedule-to-start timeout: the server guarantees that no worker has started it.
      world.after(leftMs, () => {
        this.#giveBack(lease);
        this.wantSlot();
      });
      return;
    }
    world.after(inQueueMs, () => this.#begin(lease, scheduledAt));
  }

  /** Fetches within a workflow task. One that is lost with its machine, or whose completion is lost, is repeated with the same lease. */
  #runTask(lease: Lease): void {
    const world = this.#world;
    if (world.serverNow >= lease.startBy) {
      // A run that was lost may still fetch.
      this.#giveUp(lease);
      return;
    }
    const machine = this.#anyMachine();
    const { run } = machine;
    const isAlive = () => machine.run === run && !machine.frozen;
    // A frozen machine takes no task.
    let [over, isFetching] = [false, !machine.frozen];
    const watch = () => {
      if (over) return;
      if (isAlive() && isFetching && !world.fault(0.2)) return world.after(TASK_TIMEOUT_MS, watch);
      over = true;
      this.#runTask(lease);
    };
    world.after(TASK_TIMEOUT_MS, watch);
    if (!isFetching) return;
    const waitMs = Math.max(0, lease.notBefore - lease.earlyMs - world.serverNow) * (1 + 5e-4);
    const usable = usableOn(
      machine,
      Math.min(lease.startBy, lease.notBefore + REPEAT_WITHIN_MS) - world.serverNow,
    );
    machine.after(waitMs, () => {
      this.#wire.fetch(machine, lease, usable, (end, undelivered) => {
        isFetching = false;
        // A run that was lost does not know that: it delivers its report as well.
        if (undelivered) this.#deliver(machine, undelivered);
        world.after(world.between(1, 50), () => {
          if (over || !isAlive() || this.#wire.isCutOff(machine) || world.fault(0.1)) return;
          over = true;
          if (end === 'spent') this.#giveUp(lease);
          else this.#fetched(end);
        });
      });
    });
  }

  #deliver(step: Machine, { reporter, end, report }: Undelivered): void {
    this.#wire.leave(step, reporter, end, report);
  }

  /** Nobody knows what became of the lease. */
  #giveUp(lease: Lease): void {
    const step = this.#anyMachine();
    this.#leave(step, lease, 'lost');
    if (this.#world.chance(0.8)) this.#wire.report(step, lease, { kind: 'lost' });
    this.wantSlot();
  }

  #begin(lease: Lease, scheduledAt: number): void {
    const world = this.#world;
    const machine = this.#anyMachine();
    const { run } = machine;
    let over = false;
    const watch = () => {
      if (over) return;
      if (machine.run === run && !machine.frozen) return world.after(HEARTBEAT_MS, watch);
      over = true;
      this.#giveUp(lease);
    };
    const usable = usableOn(machine, lease.startBy - scheduledAt);
    machine.after(Math.max(0, lease.notBefore - lease.earlyMs - scheduledAt) * (1 + 5e-4), () => {
      this.#wire.fetch(machine, lease, usable, (end, undelivered) =>
        world.after(world.between(1, 50), () => {
          if (over) return;
          over = true;
          if (undelivered) this.#deliver(this.#anyMachine(), undelivered);
          this.#fetched(end);
        }),
      );
    });
    world.after(HEARTBEAT_MS, watch);
  }

  #fetched(end: FetchEnd): void {
    const world = this.#world;
    if (end === 'fetched') this.closed = true;
    else if (end === 'unreachable') world.after(world.between(1_000, 30_000), () => this.wantSlot());
    else {
      this.#refusals += 1;
      world.after(this.#refusals > REFUSALS_BEFORE_PAUSE ? PAUSE_MS : 0, () => this.wantSlot());
    }
  }
}

/** Whether a lease may still be used, as the machine that holds it can tell. */
function usableOn(machine: Machine, forMs: number): () => boolean {
  const received = machine.read();
  return () => elapsedAtMostMs(received, machine.read()) < forMs;
}
