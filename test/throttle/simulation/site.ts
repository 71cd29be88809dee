/** The site itself, and which of its origins can really be connected to. */
import type { World } from './world.ts';

export const ORIGINS = ['https://example.org', 'http://example.org:8080'] as const;

export class Site {
  readonly #world: World;
  readonly #down = new Set<string>();
  readonly #slowestMs: number;
  readonly #slowPart: number;

  /** `slowestMs`: longest time to connect. `slowPart`: part of the responses that take as long as they may. */
  constructor(
    world: World,
    slowestMs: number,
    slowPart: number,
    private readonly usualMs: number,
  ) {
    this.#world = world;
    this.#slowestMs = slowestMs;
    this.#slowPart = slowPart;
  }

  respondingMs(maxMs: number): number {
    return this.#world.chance(this.#slowPart)
      ? maxMs * 0.99
      : this.#world.between(5, Math.min(this.usualMs, maxMs));
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
