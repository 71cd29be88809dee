/** How every command of the program is made: a sentence, the options all of them have, and examples. */
import type { Command } from 'commander';

export type MakeCommand = (
  name: string,
  description: string,
  args: string,
  examples: readonly [line: string, what: string][],
) => Command;

export function commandMaker(parent: Command): MakeCommand {
  return (name, description, args, examples) => {
    const lines = examples.map(([line, what]) => (what === '' ? `  ${line}` : `  ${line}\n      ${what}`));
    return parent
      .command(`${name} ${args}`.trim())
      .description(`${description[0]?.toUpperCase()}${description.slice(1)}.`)
      .summary(description)
      .option('--home <dir>', "where this installation's data is (default: .amble)")
      .option('--config <file>', 'read settings from this file (default: amble.config.json, if there is one)')
      .addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
  };
}
