/** Which part of the program may import which. All arrows point down, so that a part can be read without those above it. */
import { expect, test } from 'vitest';
import { type Import, partOf, readSources, type Source } from './sources.ts';

const LIBRARIES = [
  'core',
  'urls',
  'http',
  'robots',
  'html',
  'sitemaps',
  'verify',
  'temporal',
  'config',
  'storage',
  'reports',
];

/** From the bottom up. Every part may import itself. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  throttle: ['core'],
  urls: ['core'],
  http: ['core'],
  robots: ['core', 'http', 'urls'],
  html: ['core', 'robots', 'urls'],
  sitemaps: ['core', 'html', 'robots', 'urls'],
  verify: ['core', 'robots', 'urls'],
  temporal: ['core'],
  config: ['core', 'http', 'robots', 'temporal', 'urls'],
  storage: ['core', 'sitemaps', 'urls', 'verify'],
  // What people are shown of it: pure functions.
  reports: ['core', 'robots', 'storage', 'throttle', 'urls', 'verify'],
  embedded: ['core', 'storage', 'temporal'],
  demo: ['core'],
  workflows: ['core', 'throttle'],
  // What activities use of the worker process: its clock, its content store, its limiters.
  worker: ['core', 'http', 'storage', 'temporal'],
  activities: [...LIBRARIES, 'throttle', 'worker', 'workflows'],
  // What operators do and see, through whatever channel.
  operator: [...LIBRARIES, 'activities', 'embedded', 'throttle', 'worker', 'workflows'],
  // Does what the command line does, in a browser and for programs.
  server: [...LIBRARIES, 'activities', 'operator', 'throttle', 'worker', 'workflows'],
  cli: [
    ...LIBRARIES,
    'activities',
    'demo',
    'embedded',
    'operator',
    'server',
    'throttle',
    'worker',
    'workflows',
  ],
};

/** Entry points, which connect the parts. */
const ALSO_MAY_IMPORT: Record<string, readonly string[]> = {
  'src/cli.ts': ['cli'],
  'src/worker/worker.ts': [...LIBRARIES, 'activities', 'throttle', 'workflows'],
};

/** The only files in src itself. */
const ENTRY_POINTS = ['src/cli.ts'];

const MAX_LINES = 300;

/** Packages that exist in Temporal's workflow sandbox. Node's modules do not. */
const SANDBOX_PACKAGES = ['@temporalio/workflow', '@temporalio/common'];

const sources = readSources();
const byPath = new Map(sources.map((source) => [source.path, source]));

test('every import goes to a part of the program below', () => {
  const violations = importsBetweenParts()
    .filter(({ source, imported }) => !isAllowed(source, imported))
    .map(({ source, imported }) => {
      const part = partOf(source.path);
      const allowed = MAY_IMPORT[part]?.join(', ') || 'nothing';
      return `${source.path} imports ${imported.file}, but apart from itself ${part} may import only: ${allowed}.`;
    });
  expect(violations).toEqual([]);
});

test('there are no import cycles', () => {
  expect(cycles().map((cycle) => `Import cycle: ${cycle.join(' → ')}.`)).toEqual([]);
});

test('workflow code imports nothing that its sandbox lacks', () => {
  const violations = loadedFrom('workflows/index.ts').flatMap(({ path, imports }) =>
    imports
      .filter(({ file, typeOnly, specifier }) => file === null && !typeOnly && !isInSandbox(specifier))
      .map(({ specifier }) => `${path} imports ${specifier}, but workflows load it.`),
  );
  expect(violations).toEqual([]);
});

test('src itself contains only entry points', () => {
  expect(
    sources.map(({ path }) => path).filter((path) => path.split('/').length === 2 && path.startsWith('src/')),
  ).toEqual(ENTRY_POINTS);
});

test(`no file has more than ${MAX_LINES} lines`, () => {
  const long = sources
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > MAX_LINES)
    .map(({ path, lines }) => `${path} has ${lines} lines.`);
  expect(long).toEqual([]);
});

test('no two files export the same name', () => {
  const EXPORTED = /^export (?:async )?(?:function\*?|const|class|interface|type|enum) (\w+)/gm;
  const exporters = new Map<string, string[]>();
  for (const { path, text } of sources) {
    for (const [, name = ''] of text.matchAll(EXPORTED)) {
      exporters.set(name, [...(exporters.get(name) ?? []), path]);
    }
  }
  const shared = [...exporters]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name} is exported by ${paths.join(' and ')}.`);
  expect(shared).toEqual([]);
});

function importsBetweenParts(): Array<{ source: Source; imported: Import }> {
  return sources
    .flatMap((source) => source.imports.map((imported) => ({ source, imported })))
    .filter(
      ({ source, imported }) => imported.file !== null && partOf(imported.file) !== partOf(source.path),
    );
}

function isAllowed(source: Source, imported: Import): boolean {
  const allowed = [...(MAY_IMPORT[partOf(source.path)] ?? []), ...(ALSO_MAY_IMPORT[source.path] ?? [])];
  return allowed.includes(partOf(imported.file ?? ''));
}

function isInSandbox(specifier: string): boolean {
  return SANDBOX_PACKAGES.some((name) => specifier === name || specifier.startsWith(`${name}/`));
}

/** The file and all that it loads at run time. */
function loadedFrom(entry: string): Source[] {
  if (!byPath.has(entry)) throw new Error(`${entry} does not exist.`);
  const loaded = new Map<string, Source>();
  const load = (path: string): void => {
    const source = byPath.get(path);
    if (!source || loaded.has(path)) return;
    loaded.set(path, source);
    for (const { file, typeOnly } of source.imports) if (file !== null && !typeOnly) load(file);
  };
  load(entry);
  return [...loaded.values()];
}

/** One cycle for each import that closes one, as a list of files. Type imports count, because readers follow them too. */
function cycles(): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) {
      found.push([...way.slice(way.indexOf(path)), path]);
      return;
    }
    const source = byPath.get(path);
    if (!source || done.has(path)) return;
    for (const imported of source.imports) {
      visit(imported.file ?? '', [...way, path]);
    }
    done.add(path);
  };
  for (const { path } of sources) visit(path, []);
  return found;
}
