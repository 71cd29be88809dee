/** What a history is freed of before it is checked in: the machine it was recorded on, and what replay does not read. */
import { type History, readHistory } from './history.ts';

/** Who and where, or of no use: stack traces have paths of the machine, identities its name. */
const DROPPED = new Set([
  'identity',
  'stackTrace',
  'workerVersion',
  'requestId',
  'taskId',
  'meteringMetadata',
  'userMetadata',
]);

export function scrubbed(history: History): History {
  return readHistory(JSON.stringify(without(history)));
}

function without(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !DROPPED.has(key))
      .map(([key, part]) => [key, scrub(part)]),
  );
}

function scrub(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(scrub);
  if (typeof value !== 'object' || value === null) return value;
  // A worker's own queue is named after its process and machine.
  if ('kind' in value && value.kind === 'TASK_QUEUE_KIND_STICKY') return { ...value, name: 'sticky' };
  return without(value);
}
