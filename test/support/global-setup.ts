/** One Temporal server, one Postgres and one workflow bundle for the whole test run, in a home that is removed afterwards. */
import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { homeAt } from '../../src/embedded/home.ts';
import { startDatabase, startEngines } from '../../src/embedded/index.ts';
import { bundleSources } from './bundle-sources.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    temporalAddress: string;
    temporalNamespace: string;
    /** A migrated database that no test uses: the template of all others. */
    templateDatabaseUrl: string;
    /** Directory with the Postgres of a home after its first start: see initialised-home.ts. */
    initialisedHome: string;
    /** File with the bundled workflows, from the sources as they are now: every worker of the run uses it. */
    workflowCode: string;
  }
}

interface SharedEngines {
  context: ProvidedContext;
  stop(): Promise<void>;
}

interface Sharing {
  projects: number;
  engines: Promise<SharedEngines> | null;
}

declare global {
  /** Vitest loads this file once for each project, so the projects can only share through the global object. */
  var ambleTestEngines: Sharing | undefined;
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  globalThis.ambleTestEngines ??= { projects: 0, engines: null };
  const sharing = globalThis.ambleTestEngines;
  sharing.projects += 1;
  sharing.engines ??= start();
  const { context, stop } = await sharing.engines;
  project.provide('temporalAddress', context.temporalAddress);
  project.provide('temporalNamespace', context.temporalNamespace);
  project.provide('templateDatabaseUrl', context.templateDatabaseUrl);
  project.provide('initialisedHome', context.initialisedHome);
  project.provide('workflowCode', context.workflowCode);
  return async () => {
    sharing.projects -= 1;
    if (sharing.projects === 0) await stop();
  };
}

async function start(): Promise<SharedEngines> {
  const home = await mkdtemp(join(tmpdir(), 'amble-test-'));
  const binary = process.env.AMBLE_TEMPORAL_BINARY;
  const notify = (line: string) => void process.stderr.write(`${line}\n`);
  const initialisedHome = await createInitialisedHome(home, notify);
  // The run ends with this Postgres: nothing of it need survive a crash of the machine. Homes of tests keep the default.
  await appendFile(join(homeAt(home).postgres.data, 'postgresql.conf'), '\nfsync = off\n');
  const engines = await startEngines({
    home,
    isolated: true,
    ...(binary !== undefined && { temporalBinary: binary }),
    notify,
  });
  const workflowCode = join(home, 'workflows.js');
  await writeFile(workflowCode, (await bundleSources()).code);
  return {
    context: {
      temporalAddress: engines.temporal.address,
      temporalNamespace: engines.temporal.namespace,
      templateDatabaseUrl: engines.databaseUrl,
      initialisedHome,
      workflowCode,
    },
    async stop() {
      await engines.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Copies what the first start of a database leaves in a home. The home itself goes on with the original. */
async function createInitialisedHome(path: string, notify: (line: string) => void): Promise<string> {
  await (await startDatabase({ home: path, notify })).stop();
  const { postgres } = homeAt(path);
  const copy = join(path, 'initialised');
  await mkdir(copy);
  await promisify(execFile)('cp', ['-a', postgres.data, postgres.password, copy]);
  return copy;
}
