/** From the options of a command to the configuration it runs under. */
import { type AmbleConfig, loadConfig } from '../config/index.ts';

/** Options that every command has. */
export interface CommonOptions {
  home?: string;
  config?: string;
}

/** `flags` are further settings by key; those not given are left to the layers below. */
export function configFor({ home, config }: CommonOptions, flags: Record<string, unknown> = {}): AmbleConfig {
  const given = Object.entries({ ...flags, home, config }).filter(([, value]) => value !== undefined);
  return loadConfig({ env: process.env, cwd: process.cwd(), flags: Object.fromEntries(given) });
}
