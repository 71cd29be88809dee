/**
 * Live pages. All browsers that show the same address share one feed: it loads and renders the page once per tick, however many
 * watch, and stops when the last one leaves.
 */
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const TICK_MS = 2_000;

/** Counting the pages of a huge crawl takes a while: a feed may use at most a tenth of the database's time. */
const REST_PER_LOAD = 10;

class Feed extends EventEmitter {
  followers = 0;
  version = 0;
  html = '';
  readonly #render: () => Promise<string>;
  readonly #stop = new AbortController();

  constructor(render: () => Promise<string>) {
    super();
    this.#render = render;
    this.setMaxListeners(0);
  }

  async run(tickMs: number): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const began = performance.now();
      // The next tick may succeed.
      const html = await this.#render().catch(() => this.html);
      if (html !== this.html) {
        this.html = html;
        this.version += 1;
        this.emit('change');
      }
      const restMs = Math.max(tickMs, REST_PER_LOAD * (performance.now() - began));
      await sleep(restMs, undefined, { signal }).catch(() => undefined);
    }
  }

  stop(): void {
    this.#stop.abort();
  }
}

export class LiveFeeds {
  readonly #feeds = new Map<string, Feed>();
  readonly #tickMs: number;

  constructor(tickMs = TICK_MS) {
    this.#tickMs = tickMs;
  }

  get followers(): number {
    return [...this.#feeds.values()].reduce((sum, feed) => sum + feed.followers, 0);
  }

  /** Yields the newest version whenever there is one; a slow reader misses those in between. Ends when `signal` is aborted. */
  async *follow(
    address: string,
    render: () => Promise<string>,
    signal: AbortSignal,
  ): AsyncGenerator<string, void> {
    const feed = this.#feeds.get(address) ?? this.#open(address, render);
    feed.followers += 1;
    try {
      for (let seen = 0; !signal.aborted; ) {
        if (feed.version > seen) {
          seen = feed.version;
          yield feed.html;
        } else await once(feed, 'change', { signal }).catch(() => undefined);
      }
    } finally {
      feed.followers -= 1;
      if (feed.followers === 0) {
        this.#feeds.delete(address);
        feed.stop();
      }
    }
  }

  #open(address: string, render: () => Promise<string>): Feed {
    const feed = new Feed(render);
    this.#feeds.set(address, feed);
    void feed.run(this.#tickMs);
    return feed;
  }
}
