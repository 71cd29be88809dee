// `prisma generate` needs no engine for this schema, yet it looks for one and would download it. Naming any program
// as the schema engine stops that; it is never run.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const prisma = createRequire(import.meta.url).resolve('prisma/build/index.js');
const { status } = spawnSync(process.execPath, [prisma, 'generate', '--no-hints'], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
    ...process.env,
  },
});
process.exit(status ?? 1);
