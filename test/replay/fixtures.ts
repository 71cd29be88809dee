/** The histories that are checked in: where they are, and how they are written. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type History, readHistory } from './history.ts';
import { scrubbed } from './scrub.ts';

/** Of the code as it is: `npm run histories` writes them anew. */
export const RECORDED = fileURLToPath(new URL('../histories/', import.meta.url));

export function namesIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.json'))
    .map((file) => basename(file, '.json'))
    .sort();
}

export function textOf(directory: string, name: string): string {
  return readFileSync(`${directory}${name}.json`, 'utf8');
}

export function load(directory: string, name: string): History {
  return readHistory(textOf(directory, name));
}

/** One event a line: a difference shows which events are new. */
export async function save(name: string, history: History): Promise<void> {
  const lines = scrubbed(history).events.map((event) => JSON.stringify(event));
  await mkdir(RECORDED, { recursive: true });
  await writeFile(`${RECORDED}${name}.json`, `{"events":[\n${lines.join(',\n')}\n]}\n`);
}
