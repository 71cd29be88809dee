/** The npm steps of the Dockerfile, on what .dockerignore lets into the image's build. No container is needed. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../../src/core/package-root.ts';
import { startEngines } from '../../src/embedded/index.ts';
import { cleanEnvironment, lastLine, networkFlags, startProgram } from '../e2e/support.ts';
import { readDockerfile } from '../support/compose.ts';
import { flatSite, startWeb } from '../support/web.ts';

const PAGES = 3;

let directory: string;
/** What the image has in /app. */
let image: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'amble-image-'));
  const context = join(directory, 'context');
  await mkdir(context);
  const lines = (await readFile(join(packageRoot, '.dockerignore'), 'utf8')).trim().split('\n');
  const [everything, ...rest] = lines;
  expect(everything).toBe('*');
  for (const name of rest.filter((line) => line.startsWith('!')).map((line) => line.slice(1)))
    await cp(join(packageRoot, name), join(context, name), { recursive: true });
  for (const name of rest.filter((line) => !line.startsWith('!')))
    await rm(join(context, name), { recursive: true });
  // In place of `npm ci`.
  await symlink(join(packageRoot, 'node_modules'), join(context, 'node_modules'));

  image = join(context, 'package');
  const [, steps = ''] = /^COPY \. \.\n(?:#.*\n)*RUN (npm run build .*)$/m.exec(readDockerfile()) ?? [];
  await run('sh', ['-ec', steps.replaceAll('/package', image)], { cwd: context });
  const dependencies = join(directory, 'dependencies');
  await mkdir(dependencies);
  for (const name of ['package.json', 'package-lock.json'])
    await cp(join(packageRoot, name), join(dependencies, name));
  const [, install = ''] = /^RUN (npm ci --omit=dev .*)$/m.exec(readDockerfile()) ?? [];
  await run('sh', ['-ec', install], { cwd: dependencies });
  await rename(join(dependencies, 'node_modules'), join(image, 'node_modules'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const run = promisify(execFile);

test('what .dockerignore lets in is enough to build the program', async () => {
  const home = join(directory, 'home');
  await mkdir(home);
  const { stdout } = await run(join(image, 'dist', 'src', 'cli.js'), ['--version'], { cwd: home });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  await readFile(join(image, 'dist', 'workflow-bundle.js'));
});

test('its production dependencies are enough for a worker and a crawl', async () => {
  const engines = await startEngines({ home: join(directory, 'engines'), isolated: true, notify: () => {} });
  onTestFinished(() => engines.stop());
  const web = await startWeb({ site: flatSite(PAGES) });
  onTestFinished(() => web.stop());
  const { address, namespace } = engines.temporal;
  const amble = (...args: string[]) =>
    startProgram(process.execPath, [join(image, 'dist', 'src', 'cli.js'), ...args], {
      cwd: directory,
      env: {
        ...cleanEnvironment(),
        TEMPORAL_ADDRESS: address,
        TEMPORAL_NAMESPACE: namespace,
        DATABASE_URL: engines.databaseUrl,
        AMBLE_HOME: join(directory, 'amble'),
      },
    });
  const worker = amble('worker');
  onTestFinished(() => worker.kill('SIGKILL'));
  await worker.waitForStderr(/Worker ready/);
  const options = ['--id', 'image', '--delay', '50ms', '--json', ...networkFlags(web.network.resolve)];
  const { code, stdout, stderr } = await amble('crawl', web.url('site'), ...options).ended;
  expect(code, stderr).toBe(0);
  expect(lastLine(stdout)).toMatchObject({
    pages: { Fetched: PAGES + 1 },
  });
  worker.kill('SIGTERM');
  expect(await worker.ended).toMatchObject({ code: 0 });
});
