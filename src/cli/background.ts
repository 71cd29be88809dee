/** Engines and a worker that go on when this command has returned: an `amble up` of the same home, in the background. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { AmbleConfig } from '../config/index.ts';
import { logFile } from './log.ts';
import { isUp } from './presence.ts';
import type { CommonOptions } from './settings.ts';
import { say } from './terminal.ts';

const LOOK_EVERY_MS = 200;

/** Beside this file's folder in the compiled program, which is the only place it is run from. */
const PROGRAM = fileURLToPath(new URL('../cli.js', import.meta.url));

export async function ensureBackground(config: AmbleConfig, options: CommonOptions): Promise<void> {
  if (await isUp(config.home)) return;
  const file = logFile(config.home);
  mkdirSync(dirname(file), { recursive: true });
  say(`Starting "amble up" in the background; its log is ${file}.`);
  const log = openSync(file, 'a');
  const args = [
    PROGRAM,
    'up',
    '--home',
    config.home,
    ...(options.config ? ['--config', options.config] : []),
  ];
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  const gone = once(child, 'exit').then(() => {
    throw new Error(`"amble up" ended before it was ready; ${file} says why.`);
  });
  // May take minutes the first time, when a Temporal server has to be built: only its end is a reason to stop waiting.
  const ready = (async () => {
    while (!(await isUp(config.home))) await sleep(LOOK_EVERY_MS);
  })();
  await Promise.race([ready, gone]);
  gone.catch(() => undefined);
  child.unref();
}
