/** Engines and a worker that go on when this command has returned: an `amble up` of the same home, in the background. */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { AmbleConfig } from '../../config/index.ts';
import { homeAt, prepareHome } from '../../embedded/home.ts';
import { logFile } from '../log.ts';
import { say } from '../render/terminal.ts';
import type { CommonOptions } from '../settings.ts';
import { findUp } from './presence.ts';

const LOOK_EVERY_MS = 200;

/** Beside this file's folder in the compiled program, which is the only place it is run from. */
const PROGRAM = fileURLToPath(new URL('../../cli.js', import.meta.url));

/** Its process id. Returns when it is ready to work. */
export async function ensureBackground({ home }: AmbleConfig, { config }: CommonOptions): Promise<number> {
  const already = await findUp(home);
  if (already !== null) return already;
  const file = logFile(home);
  await prepareHome(homeAt(home));
  say(`Starting "amble up" in the background; its log is ${file}.`);
  const log = openSync(file, 'a');
  const args = ['up', '--home', home, ...(config === undefined ? [] : ['--config', config])];
  const child = spawn(process.execPath, [PROGRAM, ...args], { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  child.unref();
  // May take minutes the first time, when a Temporal server has to be built: only its end is a reason to stop waiting.
  while (child.exitCode === null && child.signalCode === null) {
    const pid = await findUp(home);
    if (pid !== null) return pid;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`"amble up" ended before it was ready; ${file} says why.`);
}
