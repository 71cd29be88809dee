/** The site itself: which of its origins can be connected to in truth, whatever anybody believes about them. */
import type { World } from './world.ts';

export const ORIGINS = ['https://example.org', 'http://example.org:8080'] as const;

export class Site {
  readonly #world: World;
  readonly #gone = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  isUp(origin: string): boolean {
    return this.#world.calm || !this.#gone.has(origin);
  }

  change(): void {
    const origin = this.#world.oneOf(...ORIGINS);
    if (!this.#gone.delete(origin)) this.#gone.add(origin);
  }
}
