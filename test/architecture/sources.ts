/** The program's sources and their imports, read as text: checking the layout needs no compiler. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

export interface Import {
  /** As written, such as `../core/outcome.ts` or `node:fs`. */
  specifier: string;
  /** The imported file, relative to the repository; null: a package or a Node built-in. */
  file: string | null;
  /** Erased by the compiler, so nothing is loaded at run time. */
  typeOnly: boolean;
}

export interface Source {
  /** Relative to the repository, such as `src/core/outcome.ts`. */
  path: string;
  text: string;
  imports: Import[];
}

export function readSources(): Source[] {
  return ['src', 'workflows', 'activities']
    .flatMap((top) =>
      readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' }).map((name) => join(top, name)),
    )
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('/generated/'))
    .sort()
    .map((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8');
      return { path, text, imports: importsOf(path, text) };
    });
}

const STATEMENT = /^(?:import|export)\s(?<type>type\s)?[^;]*?\bfrom '(?<specifier>[^']+)'/gm;
const SIDE_EFFECT = /^import '(?<specifier>[^']+)'/gm;
const DYNAMIC = /\bimport\('(?<specifier>[^']+)'\)/g;

function importsOf(path: string, text: string): Import[] {
  return [STATEMENT, SIDE_EFFECT, DYNAMIC]
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .map(({ groups }) => {
      const specifier = groups?.specifier ?? '';
      const file = specifier.startsWith('.') ? join(dirname(path), specifier) : null;
      return { specifier, file, typeOnly: groups?.type !== undefined };
    });
}

/** The part of the program that a file belongs to: a directory of src, `workflows` or `activities`. */
export function partOf(path: string): string {
  const [top = '', second = ''] = path.split('/');
  return top === 'src' ? second : top;
}
