/** How commands are defined: a description, the options that all of them have, and examples. */
import type { Command } from 'commander';
import type { ExitCode } from './terminal.ts';

/** Receives the exit code of the command that ran. */
export type OnExit = (code: ExitCode) => void;

export type DefineCommand = (
  name: string,
  description: string,
  args: string,
  examples: readonly [command: string, explanation: string][],
) => Command;

export function commandDefiner(parent: Command): DefineCommand {
  return (name, description, args, examples) => {
    const lines = examples.map(([command, explanation]) => `  $ ${command}\n      ${explanation}`);
    return parent
      .command(`${name} ${args}`.trim())
      .description(`${description[0]?.toUpperCase()}${description.slice(1)}.`)
      .summary(description)
      .option('--home <dir>', 'directory with the data of this installation (default: .amble)')
      .option('--config <file>', 'settings file (default: amble.config.json, if it exists)')
      .addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
  };
}
