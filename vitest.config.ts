import { defineConfig } from 'vitest/config';

/** No server and no engine: `npm run test:unit` runs these alone. */
const UNIT = [
  'architecture',
  'cli',
  'config',
  'core',
  'demo',
  'deploy',
  'html',
  'http',
  'operator',
  'reports',
  'robots',
  'server',
  'sitemaps',
  'support',
  'temporal',
  'throttle',
  'urls',
  'verify',
  'worker',
  'workflows',
];
/** On the Temporal server and Postgres that all tests of a run share. */
const SHARED_ENGINES = [
  'activities',
  'browser',
  'conformance',
  'corpus',
  'crawl',
  'dashboard',
  'presets',
  'replay',
  'storage',
];
/** Whole programs, or engines of their own. */
const PROGRAMS = ['e2e', 'embedded', 'faults'];

function testsIn(directories: readonly string[]): string[] {
  return directories.map((directory) => `test/${directory}/**/*.test.ts`);
}

// Loading the SDK and the sources anew for each of 250 files would take longer than most of the tests.
const shared = { testTimeout: 60_000, hookTimeout: 300_000, isolate: false };
const withEngines = { ...shared, globalSetup: './test/support/global-setup.ts' };

export default defineConfig({
  test: {
    // Most tests wait for real clocks: three at a time fill two cores, and more would starve each other.
    maxWorkers: 4,
    reporters: ['default', './test/support/closing-line-reporter.ts'],
    projects: [
      { test: { ...shared, name: 'unit', include: testsIn(UNIT) } },
      { test: { ...shared, name: 'fuzz', include: testsIn(['fuzz']) } },
      { test: { ...withEngines, name: 'crawls', include: testsIn(SHARED_ENGINES) } },
      { test: { ...withEngines, name: 'programs', include: testsIn(PROGRAMS) } },
    ],
  },
});
