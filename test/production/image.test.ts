/** The npm steps of the Dockerfile, on what .dockerignore lets into the image's build. No container is needed. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../../src/core/package-root.ts';
import { readDockerfile } from '../support/compose.ts';

test('what .dockerignore lets in is enough to build the program', async () => {
  const context = await mkdtemp(join(tmpdir(), 'amble-image-'));
  onTestFinished(() => rm(context, { recursive: true, force: true }));
  const lines = (await readFile(join(packageRoot, '.dockerignore'), 'utf8')).trim().split('\n');
  const [everything, ...rest] = lines;
  expect(everything).toBe('*');
  for (const name of rest.filter((line) => line.startsWith('!')).map((line) => line.slice(1)))
    await cp(join(packageRoot, name), join(context, name), { recursive: true });
  for (const name of rest.filter((line) => !line.startsWith('!')))
    await rm(join(context, name), { recursive: true });
  // In place of `npm ci`.
  await symlink(join(packageRoot, 'node_modules'), join(context, 'node_modules'));

  const image = join(context, 'package');
  const [, steps = ''] = /^COPY \. \.\n(?:#.*\n)*RUN (npm run build .*)$/m.exec(readDockerfile()) ?? [];
  await promisify(execFile)('sh', ['-ec', steps.replaceAll('/package', image)], { cwd: context });
  await symlink(join(packageRoot, 'node_modules'), join(image, 'node_modules'));
  await mkdir(join(context, 'home'));
  const { stdout } = await promisify(execFile)(join(image, 'dist', 'src', 'cli.js'), ['--version'], {
    cwd: join(context, 'home'),
  });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  await readFile(join(image, 'dist', 'workflow-bundle.js'));
}, 300_000);
