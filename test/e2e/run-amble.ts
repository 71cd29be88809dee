/** The program as users run it: a process of its own, from the build. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/core/package-root.ts';

export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

const PROGRAM = join(packageRoot, 'dist', 'src', 'cli.js');

/** With the environment that the test gives, not the one of the person who runs the tests. */
export function runAmble(
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<Run> {
  if (!existsSync(PROGRAM)) throw new Error('The program is not built: run "npm run build" first.');
  return new Promise((resolve) => {
    const options = { cwd, env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } };
    const child = execFile(process.execPath, [PROGRAM, ...args], options, (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}
