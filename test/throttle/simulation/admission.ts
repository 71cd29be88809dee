/**
 * A page that ends admits others, asks for their slots with one message, and starts them. Its task may be lost with its machine: then it
 * is repeated, perhaps on another one, with the same message.
 */
import type { SlotAnswer } from '../../../src/throttle/index.ts';
import type { Host } from './host.ts';
import type { Machine } from './machine.ts';
import type { Page } from './page.ts';
import type { World } from './world.ts';

/** The step waits no longer for the throttle. */
const ANSWER_WITHIN_MS = 1_000;
/** After this time the server repeats a task. */
const TASK_TIMEOUT_MS = 10_000;

export class Admission {
  #started = false;

  constructor(
    private readonly world: World,
    private readonly host: Host,
    private readonly machines: readonly [Machine, ...Machine[]],
    /** Its id, which a repeated task has too. */
    private readonly id: string,
    private readonly pages: readonly Page[],
  ) {}

  run(): void {
    if (this.#started) return;
    const [first, ...others] = this.machines;
    const machine = this.world.oneOf(first, ...others);
    const asks = this.pages.map((page) => page.askFor(this.id));
    const reports = machine.takeReports();
    let isOver = false;
    const finish = (answers: SlotAnswer[]) => {
      if (isOver) return;
      isOver = true;
      this.#complete(answers);
    };
    machine.call<SlotAnswer[]>((answer) => this.host.ask(asks, reports, this.id, answer), finish);
    machine.after(ANSWER_WITHIN_MS, () => finish([]));
    this.world.after(TASK_TIMEOUT_MS, () => this.run());
  }

  /** The task ends, unless the server takes it for lost. Then its pages start, or a sweep starts them much later. */
  #complete(answers: readonly SlotAnswer[]): void {
    if (this.#started || this.world.fault(0.2)) return;
    this.#started = true;
    for (const [i, page] of this.pages.entries()) {
      const afterMs = this.world.fault(0.1) ? this.world.between(0, 60_000) : this.world.between(5, 300);
      this.world.after(afterMs, () => page.start(page.askFor(this.id), answers[i]));
    }
  }
}
