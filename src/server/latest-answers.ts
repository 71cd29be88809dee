/**
 * What workflows say, without asking each of them for each page that is shown, and without waiting for it for long: an answer costs
 * a workflow task, and a worker that is busy crawling, or has just died, may take seconds to give it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

/** Asks for those of the names, and calls `onAnswer` with each answer as it comes. */
export type AskForAnswers<Answer> = (
  names: readonly string[],
  onAnswer: (name: string, answer: Answer) => void,
) => Promise<unknown>;

/** An older answer says less than the rows. */
const MAX_AGE_MS = 30_000;

/** A page waits this long for answers. Later ones are shown by the next page. */
const PATIENCE_MS = 150;

const MAX_ANSWERS = 5_000;

export class LatestAnswers<Answer> {
  readonly #answers = new LRUCache<string, { answer: Answer; at: number }>({
    max: MAX_ANSWERS,
    ttl: MAX_AGE_MS,
  });
  readonly #asking = new Map<string, Promise<void>>();

  /** By name; one without an answer is not among them. Nobody is asked again within `freshMs`, however many pages are open. */
  async read(
    names: readonly string[],
    ask: AskForAnswers<Answer>,
    freshMs: number,
  ): Promise<Map<string, Answer>> {
    const now = Date.now();
    const old = names.filter((name) => now - (this.#answers.get(name)?.at ?? 0) > freshMs);
    const unasked = old.filter((name) => !this.#asking.has(name));
    if (unasked.length > 0) this.#start(unasked, ask);
    const asking = new Set(old.flatMap((name) => this.#asking.get(name) ?? []));
    if (asking.size > 0) await Promise.race([Promise.all(asking), sleep(PATIENCE_MS)]);
    return new Map(
      names.flatMap((name) => {
        const known = this.#answers.get(name);
        return known === undefined ? [] : [[name, known.answer] as const];
      }),
    );
  }

  /** An order has changed it: what it said before is wrong, and so is an answer to a question from before. */
  forget(name: string): void {
    this.#answers.delete(name);
    this.#asking.delete(name);
  }

  #start(names: readonly string[], ask: AskForAnswers<Answer>): void {
    const isCurrent = (name: string) => this.#asking.get(name) === asking;
    // In a later tick: `asking` has its value then. Without an answer the page shows what the rows say.
    const asking: Promise<void> = Promise.resolve()
      .then(() =>
        ask(names, (name, answer) => {
          if (isCurrent(name)) this.#answers.set(name, { answer, at: Date.now() });
        }),
      )
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => {
        for (const name of names) if (isCurrent(name)) this.#asking.delete(name);
      });
    for (const name of names) this.#asking.set(name, asking);
  }
}
