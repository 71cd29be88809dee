/**
 * Something this process cannot do without and that may be away: Temporal, Postgres, the content store. Whoever meets an
 * error says so here; it is logged once, however many pages run into it, and once more when it is over.
 */
import type { Logger } from 'pino';

export interface Outage {
  /** Since it was suspected, and until a probe has succeeded. */
  readonly away: boolean;
  /** Whether this error is of the kind that an outage brings; then it is looked into, and need not be logged. */
  explains(error: unknown): boolean;
  stop(): void;
}

export interface OutageOptions {
  /** As the log names it: the beginning of a sentence. */
  what: string;
  isItsError(error: unknown): boolean;
  /** Rejects while it is away. */
  probe(): Promise<unknown>;
  log: Logger;
  /** Between two probes while it is away. */
  everyMs?: number;
  /** Also looked at this often while nobody complains: for what is missed in silence. Unset: not looked at. */
  unaskedEveryMs?: number;
}

const LOOK_EVERY_MS = 1_000;

export function watchForOutage({
  what,
  isItsError,
  probe,
  log,
  everyMs = LOOK_EVERY_MS,
  unaskedEveryMs,
}: OutageOptions): Outage {
  let since: number | null = null;
  let told = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const look = (): void => {
    probe().then(isBack, isAway);
  };
  const isAway = (error: unknown): void => {
    if (stopped) return;
    // A connection that broke and was made again at once is no outage.
    if (!told) log.warn({ err: error }, `${what} is out of reach; waiting for it, nothing is lost meanwhile`);
    told = true;
    timer = setTimeout(look, everyMs);
    timer.unref();
  };
  const isBack = (): void => {
    if (told && since !== null)
      log.info({ awayMs: Math.round(performance.now() - since) }, `${what} can be reached again`);
    since = null;
    told = false;
  };

  const suspect = (): void => {
    if (since !== null || stopped) return;
    since = performance.now();
    look();
  };
  const unasked = unaskedEveryMs === undefined ? undefined : setInterval(suspect, unaskedEveryMs);
  unasked?.unref();

  return {
    get away() {
      return since !== null;
    },
    explains(error) {
      if (!isItsError(error)) return false;
      suspect();
      return true;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      clearInterval(unasked);
    },
  };
}
