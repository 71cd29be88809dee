/** Runs one command line and turns whatever happens into an exit code and at most one sentence on standard error. */
import { CommanderError } from 'commander';
import { BadInput } from '../core/bad-input.ts';
import { EXIT, type ExitCode, sentenceOf } from './exit.ts';
import { buildProgram } from './program.ts';
import { say } from './render/terminal.ts';

export async function run(argv: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  const program = buildProgram((ended) => {
    code = ended;
  });
  try {
    await program.parseAsync(argv);
    return code;
  } catch (error) {
    // Commander has already written its sentence, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.badInput;
    say(`amble: ${sentenceOf(error)}`);
    if (process.env.AMBLE_LOG_LEVEL === 'debug' && error instanceof Error) say(error.stack ?? '');
    return error instanceof BadInput ? EXIT.badInput : EXIT.failed;
  }
}
