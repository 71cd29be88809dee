/** The options of a benchmark. What is wrong with them is one sentence, as for every command. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { BadInput, messageOf } from '../src/core/errors.ts';

export function parseOptions<Options extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: Options,
) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new BadInput(messageOf(error));
  }
}
