/** Options of commands that give an order: why, and by whom. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { BadInput } from '../config/index.ts';
import { type OrderOrigin, parseOrigin } from '../core/order.ts';
import type { CommonOptions } from './common-options.ts';

export interface OrderOptions extends CommonOptions {
  reason?: string;
}

export function addOrderOptions(command: Command): Command {
  return command.option(
    '--reason <text>',
    'why, for the record ("amble orders") and for everybody who looks',
  );
}

/** Bad input is refused before anything is started. */
export function cliOrigin({ reason }: OrderOptions): OrderOrigin {
  const parsed = parseOrigin({ channel: 'cli', by: userName(), reason });
  if (parsed.ok) return parsed.origin;
  throw new BadInput('Invalid --reason: use at most 500 characters.');
}

/** null: the system has no name for this user, as in some containers. */
function userName(): string | null {
  try {
    return userInfo().username.slice(0, 100);
  } catch {
    return null;
  }
}
