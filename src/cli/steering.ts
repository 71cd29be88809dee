/** The commands for a crawl that runs: look closely, hold it, let it go, and prove that it was polite. */
import type { Command } from 'commander';
import { commandMaker, type MakeCommand } from './command-maker.ts';
import type { ExitCode } from './exit.ts';

type Ended = (code: ExitCode) => void;

export function addSteering(command: MakeCommand, program: Command, ended: Ended): void {
  command('page', 'show where one page is now and why, and every attempt at it', '<url>', [
    [
      '$ amble page https://example.org/about',
      '3rd of 12 in line, expected in 20 s; the gap is 10 s, because of ...',
    ],
    ['$ amble page https://example.org/about --crawl example', 'as that crawl has it'],
  ])
    .option('--crawl <id>', 'of this crawl (default: the newest that has the page)')
    .option('--json', 'print JSON instead')
    .action(async (url, options) => {
      const { pageCommand } = await import('./commands/page.ts');
      ended(await pageCommand(url, options));
    });

  addDomain(program, ended);

  command('pause', 'pause a crawl; others on the same domains go on', '<crawl>', [
    ['$ amble pause example', 'nothing more is fetched for it, through every restart, until it is resumed'],
  ])
    .addHelpText(
      'after',
      `
Nothing new begins, and a page whose turn comes gives its slot back and waits in the table; it loses no attempt. A fetch
that is on the wire is finished. The same while its workflow runs, with the stock Temporal CLI:
  $ temporal workflow update execute --workflow-id example --name pause`,
    )
    .action(async (crawl, options) => {
      const { pauseCommand } = await import('./commands/pause.ts');
      ended(await pauseCommand(crawl, options));
    });

  command('resume', 'let a paused crawl go on', '<crawl>', [
    ['$ amble resume example', 'its pages are let in again at once'],
  ]).action(async (crawl, options) => {
    const { resumeCommand } = await import('./commands/pause.ts');
    ended(await resumeCommand(crawl, options));
  });

  command('cancel', 'cancel a crawl, and wait until its last page has stepped down', '<crawl>', [
    ['$ amble cancel example', 'pages not fetched yet end as Cancelled; what was fetched stays'],
  ]).action(async (crawl, options) => {
    const { cancelCommand } = await import('./commands/cancel.ts');
    ended(await cancelCommand(crawl, options));
  });

  command('verify', 'prove from the records that a crawl was polite', '[crawl]', [
    ['$ amble verify example', 'exit code 0: no gap too short, no path disallowed, no page tried too often'],
    ['$ amble verify --all --json', 'every crawl on record, for programs'],
  ])
    .option('--all', 'every crawl on record instead of one')
    .option('--json', 'print one JSON object instead of tables: polite, domains, violations')
    .addHelpText(
      'after',
      `
Reads the start of every request on record, robots.txt and its redirects included, and judges each anew: against the gap
that was in force when it was granted, the robots.txt that was stored then, and the crawl's retry policy. A domain's gap
holds over all crawls, so the requests of other crawls to the same domains are looked at too. Exit code 1 and the
offending pairs where something was not as it should be. Of many domains a terminal shows the 50 with the least to spare;
a pipe or a file gets all.`,
    )
    .action(async (crawl, options) => {
      const { verifyCommand } = await import('./commands/verify.ts');
      ended(await verifyCommand(crawl, options));
    });
}

function addDomain(program: Command, ended: Ended): void {
  const domain = program
    .command('domain')
    .description('Show how domains are treated, and change it while crawls run.')
    .summary('show how domains are treated, and change it while crawls run')
    .addHelpText(
      'after',
      `
Examples:
  $ amble domain list
  $ amble domain show example.org
  $ amble domain delay example.org 30s

What is changed counts from the next slot on, also for pages already in line, for all crawls; it survives every restart.
While the throttle runs, the same with the stock Temporal CLI:
  $ temporal workflow update execute --workflow-id throttle:example.org --name pause`,
    );
  const command = commandMaker(domain);

  command('list', 'list the domains that were met, paused, blocked and down ones first', '', [
    ['$ amble domain list', 'state, gap and why, pages in line, last request'],
  ])
    .option('--all', 'every domain on record instead of the first 100')
    .option('--json', 'print JSON instead of a table')
    .action(async (options) => {
      const { listDomainsCommand } = await import('./commands/domain.ts');
      ended(await listDomainsCommand(options));
    });

  command('show', 'show the delay of a domain and why, its line, its leases and its troubles', '<domain>', [
    ['$ amble domain show example.org', 'from its throttle, or as last written down where that does not run'],
  ])
    .option('--json', 'print JSON instead')
    .action(async (name, options) => {
      const { showDomainCommand } = await import('./commands/domain.ts');
      ended(await showDomainCommand(name, options));
    });

  command('pause', 'ask nothing more of a domain, for all crawls', '<domain>', [
    ['$ amble domain pause example.org', 'its pages stay in line'],
  ])
    .option('--json', 'print JSON instead')
    .action(async (name, options) => {
      const { pauseDomainCommand } = await import('./commands/steer-domain.ts');
      ended(await pauseDomainCommand(name, options));
    });

  command('resume', 'let a paused domain go on', '<domain>', [
    ['$ amble domain resume example.org', 'the gap since its last request still holds'],
  ])
    .option('--json', 'print JSON instead')
    .action(async (name, options) => {
      const { resumeDomainCommand } = await import('./commands/steer-domain.ts');
      ended(await resumeDomainCommand(name, options));
    });

  command('delay', 'set the shortest gap between two requests to a domain', '<domain> <time>', [
    ['$ amble domain delay example.org 30s', 'or a range such as 5s-15s'],
    ['$ amble domain delay example.org none', "the crawls' own delays alone count again"],
  ])
    .option('--json', 'print JSON instead')
    .addHelpText(
      'after',
      `
It can only make the gap longer than the crawls want it: the longest of the crawls' delays, this one, the site's
Crawl-delay and its backoff holds.`,
    )
    .action(async (name, time, options) => {
      const { delayDomainCommand } = await import('./commands/steer-domain.ts');
      ended(await delayDomainCommand(name, time, options));
    });

  command('reset', 'forget what was set for and learned of a domain', '<domain>', [
    ['$ amble domain reset example.org', 'after a site has been repaired, say'],
  ])
    .option('--json', 'print JSON instead')
    .addHelpText(
      'after',
      `
Takes back pause and delay, and forgets backoff, Retry-After and outages. The last request and the site's Crawl-delay are
remembered: politeness rests on them.`,
    )
    .action(async (name, options) => {
      const { resetDomainCommand } = await import('./commands/steer-domain.ts');
      ended(await resetDomainCommand(name, options));
    });
}
