import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 300_000,
    // Real engines and real clocks on few cores: files side by side would only fight for them.
    fileParallelism: false,
    globalSetup: './test/support/global-setup.ts',
    reporters: ['default', './test/support/closing-line-reporter.ts'],
  },
});
