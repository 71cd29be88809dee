/** A home whose Postgres is set up already: setting it up takes seconds, which most tests need not wait for. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { homeAt, prepareHome } from '../../src/embedded/home.ts';
import type {} from './global-setup.ts';

/** Must be called before anything is started there. */
export async function initialiseHome(directory: string): Promise<void> {
  const home = homeAt(directory);
  await prepareHome(home);
  // With its owner, which is another user if this is root.
  await promisify(execFile)('cp', ['-a', `${inject('initialisedHome')}/.`, home.directory]);
}
