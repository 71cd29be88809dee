/** Engines that a killed process left running in a home that is about to be emptied. */
import { existsSync } from 'node:fs';
import { stopEngine } from '../engines/engine.ts';
import { homeAt } from '../engines/home.ts';
import { postgresEngine } from '../engines/postgres.ts';
import { present } from '../engines/presence.ts';
import { temporalEngine } from '../engines/temporal.ts';

export async function endLeftovers(path: string): Promise<void> {
  const home = homeAt(path);
  if (!existsSync(home.users)) return;
  const [user] = await present(home.users);
  if (user)
    throw new Error(
      `Process ${user.pid} is using ${home.directory}: let it end first, or choose another --home.`,
    );
  await stopEngine(temporalEngine(home));
  await stopEngine(postgresEngine(home));
}
