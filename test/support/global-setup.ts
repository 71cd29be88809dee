/** One Temporal server, one Postgres and one bundle of the workflows for the whole test run, in a home of their own that is gone afterwards. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEngines } from '../../src/engines/index.ts';
import { bundleSources } from './bundle-sources.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    temporalAddress: string;
    temporalNamespace: string;
    /** Of a migrated database that nobody works in: the template of all others. */
    templateDatabaseUrl: string;
    /** File with the workflows' code, from the sources as they are now: every worker of the run uses it. */
    workflowCode: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(tmpdir(), 'amble-test-'));
  const binary = process.env.AMBLE_TEMPORAL_BINARY;
  const engines = await startEngines({
    home,
    isolated: true,
    ...(binary !== undefined && { temporalBinary: binary }),
    say: (line) => process.stderr.write(`${line}\n`),
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
