import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

export default defineConfig({
  test: { ...base.test, include: ['test/evolution/record.ts', 'test/evolution/record-trouble.ts'] },
});
