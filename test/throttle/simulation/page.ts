/** A CrawlPage that needs one request. It asks, waits, passes its lease to a worker, and starts over if that fails. */
import { type Ask, type Lease, type SlotAnswer, withdraw } from '../../../src/throttle/index.ts';
import type { Wire } from './fetching.ts';
import type { Host, Receiver } from './host.ts';
import type { Machine } from './machine.ts';
import type { World } from './world.ts';

const FIRST_SLACK_MS = 2_000;
const MAX_SLACK_MS = 3_600_000;
const HEARTBEAT_MS = 5_000;

export class Page implements Receiver {
  readonly #world: World;
  readonly #host: Host;
  readonly #wire: Wire;
  readonly #machines: [Machine, ...Machine[]];
  readonly #template: Omit<Ask, 'ticket'>;
  readonly #passedOn = new Set<string>();
  #tickets = 0;
  #waiting = false;
  #timer = 0;
  #slackMs = FIRST_SLACK_MS;
  closed = false;

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
    this.#waiting = true;
    this.#slackMs = FIRST_SLACK_MS;
    this.#ask();
  }

  /** Ends while queued, with or without withdrawing its ticket. */
  leave(): void {
    if (!this.#waiting) return;
    this.#waiting = false;
    this.closed = true;
    const ticket = this.#ticket;
    if (this.#world.chance(0.7))
      this.#world.send(() => this.#host.signal((state, now) => withdraw(state, ticket, now)));
  }

  /** The signal `granted`. */
  receive(lease: Lease): boolean {
    if (this.closed) return false;
    if (this.#passedOn.has(lease.id)) return true;
    const isWanted = this.#waiting && lease.ticket === this.#ticket && !this.#world.fault(0.03);
    if (isWanted) this.#passOn(lease);
    else {
      this.#wire.send(lease, { kind: 'unused' });
      if (this.#waiting && lease.ticket === this.#ticket) this.wantSlot();
    }
    return true;
  }

  get #ticket(): string {
    return `${this.#template.workflowId}/${this.#tickets}`;
  }

  #ask(): void {
    const asked = { ...this.#template, ticket: this.#ticket };
    this.#askAgainAfter(10_000);
    const [first, ...others] = this.#machines;
    this.#world.oneOf(first, ...others).call(
      () => this.#host.ask(asked),
      (answer) => this.#answered(asked.ticket, answer),
    );
  }

  #answered(ticket: string, answer: SlotAnswer): void {
    if (answer.kind === 'granted') this.receive(answer.lease);
    else if (ticket === this.#ticket && this.#waiting) {
      if (answer.kind === 'down') {
        this.#defer(answer);
        return;
      }
      const at = answer.kind === 'queued' ? answer.expectedAt : answer.retryAt;
      this.#askAgainAfter(at - this.#world.now + this.#slackMs);
      this.#slackMs = Math.min(2 * this.#slackMs, MAX_SLACK_MS);
    }
  }

  /** Asks again later with a new ticket; the old one is no longer queued. */
  #defer({ retryAt, givenUp }: Extract<SlotAnswer, { kind: 'down' }>): void {
    this.#waiting = false;
    this.closed = givenUp;
    if (!givenUp) this.#world.after(retryAt - this.#world.now, () => this.wantSlot());
  }

  #askAgainAfter(ms: number): void {
    this.#timer += 1;
    const timer = this.#timer;
    this.#world.after(Math.max(0, ms), () => {
      if (timer === this.#timer && this.#waiting) this.#ask();
    });
  }

  #passOn(lease: Lease): void {
    const world = this.#world;
    this.#waiting = false;
    this.#passedOn.add(lease.id);
    const inQueueMs = world.fault(0.08) ? world.between(0, 40_000) : world.between(1, 60);
    const leftMs = lease.startBy - world.now;
    if (inQueueMs >= leftMs) {
      // Schedule-to-start timeout: the server guarantees that no worker has started it.
      world.after(leftMs, () => {
        this.#wire.send(lease, { kind: 'unused' });
        this.wantSlot();
      });
      return;
    }
    world.after(inQueueMs, () => this.#begin(lease));
  }

  #begin(lease: Lease): void {
    const [first, ...others] = this.#machines;
    const machine = this.#world.oneOf(first, ...others);
    const { run } = machine;
    let over = false;
    const watch = () => {
      if (over) return;
      if (machine.run === run && !machine.frozen) return this.#world.after(HEARTBEAT_MS, watch);
      over = true;
      if (this.#world.chance(0.8)) this.#wire.send(lease, { kind: 'lost' });
      this.wantSlot();
    };
    const scheduled = this.#world.serverNow;
    machine.after(this.#world.between(0, 50), () => {
      machine.clock.observe(scheduled, machine.read());
      this.#wire.fetch(machine, lease, (end) =>
        this.#world.after(this.#world.between(1, 50), () => {
          if (over) return;
          over = true;
          if (end === 'fetched') this.closed = true;
          else if (end === 'refused') this.wantSlot();
          else this.#world.after(this.#world.between(1_000, 30_000), () => this.wantSlot());
        }),
      );
    });
    this.#world.after(HEARTBEAT_MS, watch);
  }
}
