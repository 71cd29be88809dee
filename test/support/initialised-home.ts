/** A home whose Postgres is set up already, for tests that are not about how that is done: it takes seconds of work. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { homeAt, prepareHome } from '../../src/embedded/home.ts';
import type {} from './global-setup.ts';

/** Before anything was started there. */
export async function initialiseHome(directory: string): Promise<void> {
  const home = homeAt(directory);
  await prepareHome(home);
  // With its owner, who under root is somebody else.
  await promisify(execFile)('cp', ['-a', `${inject('initialisedHome')}/.`, home.directory]);
}
