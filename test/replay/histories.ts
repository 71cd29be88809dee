/** The recorded histories in test/histories: read, and written without anything that names a machine. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type History, readHistory } from './history.ts';

const DIRECTORY = fileURLToPath(new URL('../histories/', import.meta.url));

export function recordedNames(): string[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith('.json'))
    .map((file) => basename(file, '.json'))
    .sort();
}

export function textOf(name: string): string {
  return readFileSync(`${DIRECTORY}${name}.json`, 'utf8');
}

export function load(name: string): History {
  return readHistory(textOf(name));
}

/** One event per line, so that a diff shows which events are new. */
export async function save(name: string, history: History): Promise<void> {
  const { events } = readHistory(JSON.stringify(scrubObject(history)));
  const lines = events.map((event) => JSON.stringify(event));
  await mkdir(DIRECTORY, { recursive: true });
  await writeFile(`${DIRECTORY}${name}.json`, `{"events":[\n${lines.join(',\n')}\n]}\n`);
}

/** Not read by replay. Stack traces contain paths of the machine, identities its name. */
const DROPPED = new Set([
  'identity',
  'stackTrace',
  'workerVersion',
  'requestId',
  'taskId',
  'meteringMetadata',
  'userMetadata',
]);

function scrubObject(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !DROPPED.has(key))
      .map(([key, part]) => [key, scrub(part)]),
  );
}

function scrub(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(scrub);
  if (typeof value !== 'object' || value === null) return value;
  // A worker's sticky queue is named after its process and machine.
  if ('kind' in value && value.kind === 'TASK_QUEUE_KIND_STICKY') return { ...value, name: 'sticky' };
  return scrubObject(value);
}
