/** Commands that a message tells people to type: they must work where that person is. */
import type { CommonOptions } from '../settings.ts';

/** With the options that lead to the same home again. */
export function commandLine(words: readonly string[], { home, config }: CommonOptions): string {
  const given = [
    ...(home === undefined ? [] : ['--home', home]),
    ...(config === undefined ? [] : ['--config', config]),
  ];
  return [...invocation(process.env.npm_lifecycle_event), ...words, ...given].map(shellWord).join(' ');
}

/** Who came through npm may have no `amble` on the PATH. */
function invocation(npmScript: string | undefined): string[] {
  if (npmScript === undefined) return ['amble'];
  return npmScript === 'npx' ? ['npx', 'amble'] : ['npm', 'run', 'amble', '--'];
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
