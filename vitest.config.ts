import { defineConfig } from 'vitest/config';

/** Whole programs and engines: each file in a process of its own. */
const WHOLE = ['cli', 'conformance', 'corpus', 'e2e', 'engines', 'faults'];
/** Whole crawls, by workers in the process of the test. */
const CRAWLS = ['crawl', 'presets'];

function testsIn(directories: readonly string[]): string[] {
  return directories.map((directory) => `test/${directory}/**/*.test.ts`);
}

const shared = { testTimeout: 60_000, hookTimeout: 300_000 };

export default defineConfig({
  test: {
    // Most of them wait for real clocks: two at a time, whatever the machine, so that none is starved.
    maxWorkers: 2,
    globalSetup: './test/support/global-setup.ts',
    reporters: ['default', './test/support/closing-line-reporter.ts'],
    projects: [
      {
        test: {
          ...shared,
          name: 'whole',
          include: testsIn(WHOLE),
        },
      },
      {
        test: {
          ...shared,
          name: 'crawls',
          include: testsIn(CRAWLS),
          // To load a worker anew for each file would take two seconds of CPU time.
          isolate: false,
        },
      },
      {
        test: {
          ...shared,
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: testsIn([...WHOLE, ...CRAWLS]),
          // To load them anew for each of a hundred files would take longer than the tests.
          isolate: false,
        },
      },
    ],
  },
});
