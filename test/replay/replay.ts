/** Replays histories with workflow code: that of the sources, or the same with one place changed. */
import { fileURLToPath } from 'node:url';
import { DefaultLogger, type InjectedSinks, Runtime, Worker } from '@temporalio/worker';
import { bundleSources } from '../support/bundle-sources.ts';
import { firstEventOf, type History, messagesSentIn, sorted } from './history.ts';
import type { SentMessage, SentMessageSinks } from './sent-messages.ts';

export interface Code {
  code: string;
}

export interface NamedHistory {
  name: string;
  history: History;
}

export interface ReplayResult {
  name: string;
  /** null: the code can be run along the history. */
  error: Error | null;
  sent: SentMessage[];
}

export function currentCode(): Promise<Code> {
  // Replay also logs the errors that tests expect.
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: 'ERROR', forward: {} } },
  });
  return bundleSources([fileURLToPath(new URL('./sent-messages.ts', import.meta.url))]);
}

/** The same code with one place changed, which has to occur exactly once. */
export function changed({ code }: Code, place: RegExp, replacement: string): Code {
  const found = code.match(new RegExp(place, 'g'))?.length ?? 0;
  if (found !== 1) throw new Error(`${place} occurs ${found} times in the workflow code, not once.`);
  return { code: code.replace(place, replacement) };
}

export async function replay(
  workflowBundle: Code,
  histories: readonly NamedHistory[],
): Promise<ReplayResult[]> {
  const sent = new Map<string, SentMessage[]>();
  const sinks: InjectedSinks<SentMessageSinks> = {
    sentMessages: {
      add: {
        callDuringReplay: true,
        fn: ({ runId }, message) => void sent.set(runId, [...(sent.get(runId) ?? []), message]),
      },
    },
  };
  const inputs = histories.map(({ history }) => ({
    history,
    workflowId: firstEventOf(history).workflowId ?? '',
  }));
  const replayed: { runId: string; error: Error | null }[] = [];
  for await (const { runId, error } of Worker.runReplayHistories({ workflowBundle, sinks }, inputs)) {
    replayed.push({ runId, error: error ?? null });
  }
  // Only now, because sinks are called after the result is known.
  return replayed.map(({ runId, error }, i) => ({
    name: histories[i]?.name ?? '',
    error,
    sent: sorted(sent.get(runId) ?? []),
  }));
}

/** The result of code that does exactly what the history has. */
export function agreementWith({ name, history }: NamedHistory): ReplayResult {
  return { name, error: null, sent: messagesSentIn(history) };
}
