import { defineConfig } from 'vitest/config';

/** `npm run test:production`: what needs programs that npm does not install. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/production/**/*.test.ts'],
    testTimeout: 300_000,
    // The first run builds servers with Go.
    hookTimeout: 60 * 60_000,
    fileParallelism: false,
    reporters: ['default', './test/support/closing-line-reporter.ts'],
  },
});
