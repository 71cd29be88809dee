import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

// Without the projects, which have files of their own.
const { projects: _, ...test } = base.test ?? {};

export default defineConfig({
  test: {
    ...test,
    globalSetup: './test/support/global-setup.ts',
    testTimeout: 60_000,
    hookTimeout: 300_000,
    include: ['test/replay/record.ts'],
  },
});
