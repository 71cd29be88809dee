/** The `amble domain` commands: how each domain is treated, across all crawls. */
import type { Command } from 'commander';
import { capitalise, commandDefiner, type OnExit } from './define-command.ts';
import { addOrderOptions } from './order-options.ts';

export function addDomainCommands(program: Command, onExit: OnExit): void {
  const summary = 'show or change how domains are treated';
  const domain = program
    .command('domain')
    .description(capitalise(`${summary}.`))
    .summary(summary)
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .addHelpText(
      'after',
      `
Examples:
  $ amble domain list
  $ amble domain show example.org
  $ amble domain delay example.org 30s

A change applies to all crawls. It takes effect at once, also for slots that
are already reserved, and survives every restart. While the domain's throttle
is running, the Temporal CLI can do the same:
  $ temporal workflow update execute --workflow-id throttle:example.org --name pause
"amble orders" lists who changed what, whichever way it was done.`,
    );
  const command = commandDefiner(domain);
  const jsonHelp = 'print JSON instead of text';

  command('list', 'list the known domains, the blocked ones first', '', [
    ['amble domain list', 'state, gap and its reason, waiting pages, last request'],
  ])
    .option('--all', 'list every known domain, not only the first 100')
    .option('--json', jsonHelp)
    .action(async (options) => {
      const { listDomainsCommand } = await import('./commands/domain.ts');
      onExit(await listDomainsCommand(options));
    });

  command('show', "show a domain's gap, queue, leases and problems", '<domain>', [
    ['amble domain show example.org', 'live from its throttle, or as last stored'],
  ])
    .option('--json', jsonHelp)
    .action(async (name, options) => {
      const { showDomainCommand } = await import('./commands/domain.ts');
      onExit(await showDomainCommand(name, options));
    });

  addOrderOptions(
    command('pause', 'send no more requests to a domain', '<domain>', [
      ['amble domain pause example.org', 'for all crawls; its pages stay queued until you resume it'],
    ]),
  )
    .option('--json', jsonHelp)
    .action(async (name, options) => {
      const { changeDomainCommand } = await import('./commands/domain.ts');
      onExit(await changeDomainCommand(name, options, { kind: 'pause' }));
    });

  addOrderOptions(
    command('resume', 'resume a paused domain', '<domain>', [
      ['amble domain resume example.org', 'the gap since its last request still applies'],
    ]),
  )
    .option('--json', jsonHelp)
    .action(async (name, options) => {
      const { changeDomainCommand } = await import('./commands/domain.ts');
      onExit(await changeDomainCommand(name, options, { kind: 'resume' }));
    });

  addOrderOptions(
    command('delay', 'set the minimum gap between requests to a domain', '<domain> <time>', [
      ['amble domain delay example.org 30s', 'or a range such as 5s-15s'],
      ['amble domain delay example.org none', 'back to the delays of the crawls'],
    ]),
  )
    .option('--json', jsonHelp)
    .addHelpText(
      'after',
      `
The longest of these applies: the delay of each crawl, this delay, the site's
Crawl-delay, and its backoff. So this delay can only make the gap longer.`,
    )
    .action(async (name, time, options) => {
      const { changeDomainCommand } = await import('./commands/domain.ts');
      const { delayChange } = await import('../operator/domain-orders.ts');
      onExit(await changeDomainCommand(name, options, delayChange(time)));
    });

  addOrderOptions(
    command('reset', 'forget what was set for a domain or learned about it', '<domain>', [
      ['amble domain reset example.org', 'for example after the site has been repaired'],
    ]),
  )
    .option('--json', jsonHelp)
    .addHelpText(
      'after',
      `
Removes the pause and the delay, and forgets backoff, Retry-After and outages.
Keeps the time of the last request and the site's Crawl-delay, which politeness
depends on.`,
    )
    .action(async (name, options) => {
      const { changeDomainCommand } = await import('./commands/domain.ts');
      onExit(await changeDomainCommand(name, options, { kind: 'reset' }));
    });
}
