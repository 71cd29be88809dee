/** Whether the namespace has Amble's search attributes. Without them a workflow that uses one could not be started. */
import type { Logger } from 'pino';
import { causesOf, codeOf } from '../core/errors.ts';
import { SEARCH_ATTRIBUTES } from '../core/search-attributes.ts';

/** A query that finds nothing, and that the server refuses if it does not know a name in it. Works on Temporal Cloud too. */
const PROBE = Object.values(SEARCH_ATTRIBUTES)
  .map((name) => `${name} = 'probe'`)
  .join(' AND ');

const NAMES = Object.values(SEARCH_ATTRIBUTES).join(', ');

/** Servers learn of a new attribute within a minute. */
const PROBE_INTERVAL_MS = 60_000;

const INVALID_ARGUMENT = 3;

type CountWorkflows = (query: string) => Promise<unknown>;

export interface SearchAttributeProbe {
  readonly present: boolean;
  stop(): void;
}

/** For a process that starts one workflow. If the server does not answer, it does without. */
export async function hasSearchAttributes(countWorkflows: CountWorkflows): Promise<boolean> {
  return countWorkflows(PROBE).then(
    () => true,
    () => false,
  );
}

/** Asks once before it resolves, and again until the namespace has them: an operator may add them while workers run. */
export async function probeSearchAttributes(
  countWorkflows: CountWorkflows,
  log: Logger,
  intervalMs = PROBE_INTERVAL_MS,
): Promise<SearchAttributeProbe> {
  let present = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let logged: string | null = null;
  const logOnce = (message: string, err?: unknown): void => {
    if (logged !== message) log.info({ err }, message);
    logged = message;
  };
  const probe = async (): Promise<void> => {
    try {
      await countWorkflows(PROBE);
      present = true;
      if (logged !== null) logOnce(`the Temporal namespace has the search attributes ${NAMES}`);
    } catch (error) {
      const isMissing = causesOf(error).some((cause) => codeOf(cause) === INVALID_ARGUMENT);
      logOnce(
        isMissing
          ? `the Temporal namespace lacks the search attributes ${NAMES}; workflows run without them until it has them`
          : `unknown whether the Temporal namespace has the search attributes ${NAMES}; workflows run without them for now`,
        error,
      );
      if (!stopped) timer = setTimeout(probe, intervalMs).unref();
    }
  };
  await probe();
  return {
    get present() {
      return present;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
