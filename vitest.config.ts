import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 300_000,
    // Most of them wait for real clocks: two at a time, whatever the machine, so that none is starved.
    maxWorkers: 2,
    globalSetup: './test/support/global-setup.ts',
    reporters: ['default', './test/support/closing-line-reporter.ts'],
  },
});
