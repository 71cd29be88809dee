/** How commands are defined: a description, examples, and the options that all of them have. */
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
      .description(capitalise(`${description}.`))
      .summary(description)
      .addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
  };
}

/** Called after all commands are defined, so that help lists a command's own options first. */
export function addCommonOptions(command: Command): void {
  if (command.commands.length > 0) {
    for (const subcommand of command.commands) addCommonOptions(subcommand);
  } else {
    command
      .option('--home <dir>', 'data directory (default: .amble)')
      .option('--config <file>', 'settings file (default: amble.config.json)');
  }
}

export function capitalise(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
