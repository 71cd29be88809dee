/** Engines that a killed process left running in a home that is about to be emptied. */
import { existsSync } from 'node:fs';
import { stopEngine } from '../../embedded/engine.ts';
import { homeAt } from '../../embedded/home.ts';
import { postgresEngine } from '../../embedded/postgres.ts';
import { livingProcesses } from '../../embedded/process-registry.ts';
import { temporalEngine } from '../../embedded/temporal.ts';

export async function endLeftovers(path: string): Promise<void> {
  const home = homeAt(path);
  if (!existsSync(home.users)) return;
  const [user] = await livingProcesses(home.users);
  if (user)
    throw new Error(
      `Process ${user.pid} is using ${home.directory}: let it end first, or choose another --home.`,
    );
  await stopEngine(temporalEngine(home));
  await stopEngine(postgresEngine(home));
}
