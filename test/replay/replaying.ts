/** Replays histories with workflow code: that of the sources, or the same with a difference planted in it. */
import { fileURLToPath } from 'node:url';
import { DefaultLogger, type InjectedSinks, Runtime, Worker } from '@temporalio/worker';
import { bundleSources } from '../support/bundle-sources.ts';
import { beginningOf, type History, inOrder, saidIn } from './history.ts';
import type { Overheard, Said } from './overhear.ts';

export interface Code {
  code: string;
}

export function currentCode(): Promise<Code> {
  // Replay says on its own log, too, what tests expect of it.
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: 'ERROR', forward: {} } },
  });
  return bundleSources([fileURLToPath(new URL('./overhear.ts', import.meta.url))]);
}

/** The same code with one place changed; it has to be there, and only once. */
export function changed({ code }: Code, place: RegExp, replacement: string): Code {
  const found = code.match(new RegExp(place, 'g'))?.length ?? 0;
  if (found !== 1)
    throw new Error(`${place} is ${found} times in the workflows' code: name a place that is there once.`);
  return { code: code.replace(place, replacement) };
}

export interface Verdict {
  name: string;
  /** What replay has to say against the history; null: nothing. */
  error: Error | null;
  /** What the workflow told others while it was replayed. */
  said: Said[];
}

export async function replay(
  workflowBundle: Code,
  histories: readonly { name: string; history: History }[],
): Promise<Verdict[]> {
  const said = new Map<string, Said[]>();
  const sinks: InjectedSinks<Overheard> = {
    overheard: {
      said: {
        callDuringReplay: true,
        fn: ({ runId }, one) => void said.set(runId, [...(said.get(runId) ?? []), one]),
      },
    },
  };
  const named = histories.map(({ history }) => ({
    history,
    workflowId: beginningOf(history).workflowId ?? '',
  }));
  const replayed: { runId: string; error: Error | null }[] = [];
  for await (const { runId, error } of Worker.runReplayHistories({ workflowBundle, sinks }, named)) {
    replayed.push({ runId, error: error ?? null });
  }
  // Only now: what is overheard comes later than the verdict.
  return replayed.map(({ runId, error }, i) => ({
    name: histories[i]?.name ?? '',
    error,
    said: inOrder(said.get(runId) ?? []),
  }));
}

/** The code can be run along the history, and tells others what it told them then. */
export function agreement({ name, history }: { name: string; history: History }): Verdict {
  return { name, error: null, said: saidIn(history) };
}

/** What replay has to say against this one history. */
export async function objection(workflowBundle: Code, history: History): Promise<Error | null> {
  const [verdict] = await replay(workflowBundle, [{ name: '', history }]);
  return verdict?.error ?? null;
}
