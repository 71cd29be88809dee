/** The site itself, and which of its origins can really be connected to. */
import type { World } from './world.ts';

export const ORIGINS = ['https://example.org', 'http://example.org:8080'] as const;

export class Site {
  readonly #world: World;
  readonly #down = new Set<string>();
  readonly #slowestMs: number;

  /** `slowestMs`: longest time to connect. */
  constructor(world: World, slowestMs: number) {
    this.#world = world;
    this.#slowestMs = slowestMs;
  }

  /** A slow site is slow every time, with some variation. */
  connectingMs(): number {
    return this.#world.between(0.7, 1) * this.#slowestMs;
  }

  isUp(origin: string): boolean {
    return this.#world.calm || !this.#down.has(origin);
  }

  change(): void {
    const origin = this.#world.oneOf(...ORIGINS);
    if (!this.#down.delete(origin)) this.#down.add(origin);
  }
}
