/** The changes that runs of earlier code must not notice, by what the sources of the workflows say. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Code, changed } from './replaying.ts';

const WORKFLOWS = fileURLToPath(new URL('../../workflows/', import.meta.url));

export function patches(): string[] {
  return readdirSync(WORKFLOWS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...readFileSync(join(WORKFLOWS, file), 'utf8').matchAll(/\bpatched\('([^']+)'\)/g)])
    .map(([, name = '']) => name);
}

/** The code with one of them decided: `true` for every run, as if nothing were open; `false`, as if it were taken back. */
export function decided(code: Code, patch: string, way: boolean): Code {
  return changed(code, new RegExp(`\\(0, ?\\w+\\.patched\\)\\('${patch}'\\)`), String(way));
}
