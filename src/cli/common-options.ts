/** Options that every command has: the settings they lead to, and commands for users to type that keep them. */

import { type AmbleConfig, BadInput, loadConfig, type TuningChanges } from '../config/index.ts';
import { quoteForShell } from '../core/format.ts';
import { passwordsOf, secretsIn } from '../core/redact.ts';
import { isReadByPeople, redactor, writeMessagesAsLog } from './terminal.ts';

export interface CommonOptions {
  home?: string;
  config?: string;
}

/** `flags` are further settings by key. Those left undefined come from the environment, the file or the defaults. */
export function configFor(
  { home, config }: CommonOptions,
  flags: Record<string, unknown> = {},
  tuning?: TuningChanges,
): AmbleConfig {
  const given = Object.entries({ ...flags, home, config }).filter(([, value]) => value !== undefined);
  const loaded = loadConfig({
    env: process.env,
    cwd: process.cwd(),
    flags: Object.fromEntries(given),
    ...(tuning && { tuning }),
  });
  addSecretsOf(loaded);
  return loaded;
}

/** Files may have secrets too. */
function addSecretsOf({ serverToken, databaseUrl, temporalAccess }: AmbleConfig): void {
  redactor.add([
    ...passwordsOf(databaseUrl ?? ''),
    ...secretsIn(temporalAccess?.metadata ?? {}),
    ...(serverToken === null ? [] : [serverToken]),
  ]);
  if (temporalAccess?.apiKey) redactor.addRotating(temporalAccess.apiKey);
}

/** For commands that stay: where a program reads their log, all that they write there is log. */
export function configForProcess(options: CommonOptions, flags?: Record<string, unknown>): AmbleConfig {
  const config = configFor(options, flags);
  if (!isReadByPeople(config.logFormat)) writeMessagesAsLog();
  return config;
}

/** A command to copy and paste, with the options that lead to the same home. */
export function formatCommand(words: readonly string[], { home, config }: CommonOptions): string {
  const given = [
    ...(home === undefined ? [] : ['--home', home]),
    ...(config === undefined ? [] : ['--config', config]),
  ];
  return [...invocation(process.env.npm_lifecycle_event), ...words, ...given].map(quoteForShell).join(' ');
}

/** Users who run Amble through npm may not have `amble` on their PATH. */
function invocation(npmScript: string | undefined): string[] {
  if (npmScript === undefined) return ['amble'];
  return npmScript === 'npx' ? ['npx', 'amble'] : ['npm', 'run', 'amble', '--'];
}

export function unknownCrawl(crawlId: string, options: CommonOptions): BadInput {
  return new BadInput(
    `There is no crawl named ${crawlId}; "${formatCommand(['status'], options)}" lists them.`,
  );
}
