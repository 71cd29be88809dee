/** Runs one command line. Every failure becomes an exit code and at most one sentence on standard error. */
import { CommanderError } from 'commander';
import { BadInput } from '../core/errors.ts';
import { buildProgram } from './program.ts';
import { EXIT, type ExitCode, errorSentence, writeErr } from './terminal.ts';

export async function main(argv: readonly string[]): Promise<ExitCode> {
  // gRPC causes one with each address of Temporal that is an IP address with TLS. Whoever runs Amble can do nothing about it.
  process.noDeprecation = true;
  let code: ExitCode = EXIT.ok;
  const program = buildProgram((exitCode) => {
    code = exitCode;
  });
  try {
    await program.parseAsync(argv);
    return code;
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.badInput;
    writeErr(`amble: ${errorSentence(error)}`, 'error');
    if (process.env.AMBLE_LOG_LEVEL === 'debug' && error instanceof Error)
      for (const line of error.stack?.split('\n') ?? []) writeErr(line, 'error');
    return error instanceof BadInput ? EXIT.badInput : EXIT.failed;
  }
}
