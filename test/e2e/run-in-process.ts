/**
 * A command line in the test's own process, through the program's own entry point: what it writes and its exit code, without seconds
 * of CPU for the start of a process. It shares its modules with the test, so what is tested must not be a process: no signals, no
 * worker, nothing that is left behind. At least one test of each command must use the real program.
 */
import { Writable } from 'node:stream';
import { main } from '../../src/cli/main.ts';
import type { Run } from './run-amble.ts';

let previous: Promise<unknown> = Promise.resolve();

/** One after the other, because the environment, the directory and the streams belong to the whole process. */
export function runInProcess(
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<Run> {
  const run = previous.then(() => runOne(args, cwd, env));
  previous = run.catch(() => {});
  return run;
}

async function runOne(args: readonly string[], cwd: string, env: Record<string, string>): Promise<Run> {
  const { noDeprecation } = process;
  const formerEnv = process.env;
  const formerDirectory = process.cwd();
  const output = { stdout: '', stderr: '' };
  const restore = [collect(output, 'stdout'), collect(output, 'stderr')];
  try {
    process.env = { PATH: formerEnv.PATH, HOME: formerEnv.HOME, ...env };
    process.chdir(cwd);
    const code = await main([process.execPath, 'amble', ...args]);
    return { code, ...output };
  } finally {
    process.chdir(formerDirectory);
    process.env = formerEnv;
    process.noDeprecation = noDeprecation ?? false;
    for (const one of restore) one();
  }
}

/** As a pipe: no terminal. */
function collect(output: Omit<Run, 'code'>, name: 'stdout' | 'stderr'): () => void {
  const former = Object.getOwnPropertyDescriptor(process, name);
  if (former === undefined) throw new Error(`The process has no ${name}.`);
  const value = new Writable({
    decodeStrings: false,
    write(text, _encoding, done) {
      output[name] += text;
      done();
    },
  });
  Object.defineProperty(process, name, { value, configurable: true, enumerable: true });
  return () => void Object.defineProperty(process, name, former);
}
