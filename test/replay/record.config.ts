import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

// The projects have files of their own, and would run those.
const { projects: _, ...test } = base.test ?? {};

export default defineConfig({
  test: {
    ...test,
    testTimeout: 60_000,
    hookTimeout: 300_000,
    include: ['test/replay/record.ts', 'test/replay/record-trouble.ts'],
  },
});
