import { defineConfig } from 'vitest/config';

/** Whole programs, crawls and engines: each file in a process of its own. */
const WHOLE = ['cli', 'conformance', 'corpus', 'crawl', 'e2e', 'engines', 'faults', 'presets'];

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
          include: WHOLE.map((directory) => `test/${directory}/**/*.test.ts`),
        },
      },
      {
        test: {
          ...shared,
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: WHOLE.map((directory) => `test/${directory}/**`),
          // To load them anew for each of a hundred files would take longer than the tests.
          isolate: false,
        },
      },
    ],
  },
});
