/** One Temporal server, one Postgres and one bundle of the workflows for the whole test run, in a temporary home. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { homeAt } from '../../src/embedded/home.ts';
import { startDatabase, startEngines } from '../../src/embedded/index.ts';
import { bundleSources } from './bundle-sources.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    temporalAddress: string;
    temporalNamespace: string;
    /** Of a migrated database that no test uses: the template of all others. */
    templateDatabaseUrl: string;
    /** Directory with the Postgres data of a home after its first start: see initialised-home.ts. */
    initialisedHome: string;
    /** File with the workflows' code, from the sources as they are now: every worker of the run uses it. */
    workflowCode: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(tmpdir(), 'amble-test-'));
  const binary = process.env.AMBLE_TEMPORAL_BINARY;
  const notify = (line: string) => void process.stderr.write(`${line}\n`);
  project.provide('initialisedHome', await createInitialisedHome(home, notify));
  const engines = await startEngines({
    home,
    isolated: true,
    ...(binary !== undefined && { temporalBinary: binary }),
    notify,
  });
  project.provide('temporalAddress', engines.temporal.address);
  project.provide('temporalNamespace', engines.temporal.namespace);
  project.provide('templateDatabaseUrl', engines.databaseUrl);
  const workflowCode = join(home, 'workflows.js');
  await writeFile(workflowCode, (await bundleSources()).code);
  project.provide('workflowCode', workflowCode);
  return async () => {
    await engines.stop();
    await rm(home, { recursive: true, force: true });
  };
}

/** Copies what the first start of a database leaves in a home. */
async function createInitialisedHome(path: string, say: (line: string) => void): Promise<string> {
  await (await startDatabase({ home: path, notify: say })).stop();
  const { postgres } = homeAt(path);
  const copy = join(path, 'initialisedHome');
  await mkdir(copy);
  await promisify(execFile)('cp', ['-a', postgres.data, postgres.password, copy]);
  return copy;
}
