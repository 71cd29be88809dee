/** The site itself: which of its origins can be connected to in truth, whatever anybody believes about them. */
import type { World } from './world.ts';

export const ORIGINS = ['https://example.org', 'http://example.org:8080'] as const;

export class Site {
  readonly #world: World;
  readonly #gone = new Set<string>();
  readonly #slowestMs: number;

  /** `slowestMs`: within which connections stand. */
  constructor(world: World, slowestMs: number) {
    this.#world = world;
    this.#slowestMs = slowestMs;
  }

  /** A site that is slow in this is so every time, if not to the millisecond. */
  connectingMs(): number {
    return this.#world.between(0.7, 1) * this.#slowestMs;
  }

  isUp(origin: string): boolean {
    return this.#world.calm || !this.#gone.has(origin);
  }

  change(): void {
    const origin = this.#world.oneOf(...ORIGINS);
    if (!this.#gone.delete(origin)) this.#gone.add(origin);
  }
}
