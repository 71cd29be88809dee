/** Commands that give orders about crawls, and the one that lists all orders. */
import type { DefineCommand, OnExit } from './define-command.ts';
import { addOrderOptions } from './order-options.ts';

export function addOrderCommands(command: DefineCommand, onExit: OnExit): void {
  addControlCommands(command, onExit);
  addRetryCommand(command, onExit);
  addExcludeCommand(command, onExit);
  addStopCommands(command, onExit);
  addOrdersCommand(command, onExit);
}

function addControlCommands(command: DefineCommand, onExit: OnExit): void {
  addOrderOptions(
    command('pause', 'pause a crawl', '<crawl>', [
      ['amble pause example', 'stays paused until you resume it, even after a restart'],
      ['amble pause example --reason "the owner asked"', 'status, page and orders show the reason'],
    ]),
  )
    .addHelpText(
      'after',
      `
No new page starts. A page in progress stops when it gets its next slot and
loses no attempt. A request that has been sent is completed. Other crawls on
the same domains continue. While the crawl's workflow is running, the Temporal CLI
can do the same:
  $ temporal workflow update execute --workflow-id example --name pause`,
    )
    .action(async (crawl, options) => {
      const { pauseCommand } = await import('./commands/pause.ts');
      onExit(await pauseCommand(crawl, options));
    });

  addOrderOptions(
    command('resume', 'resume a paused crawl', '<crawl>', [
      ['amble resume example', 'its pages start again at once'],
    ]),
  ).action(async (crawl, options) => {
    const { resumeCommand } = await import('./commands/pause.ts');
    onExit(await resumeCommand(crawl, options));
  });

  addOrderOptions(
    command('cancel', 'cancel a crawl and wait until it has ended', '<crawl>', [
      ['amble cancel example', 'unfetched pages end as Cancelled; fetched pages stay'],
    ]),
  ).action(async (crawl, options) => {
    const { cancelCommand } = await import('./commands/cancel.ts');
    onExit(await cancelCommand(crawl, options));
  });
}

function addRetryCommand(command: DefineCommand, onExit: OnExit): void {
  addOrderOptions(
    command('retry', 'try the failed pages of a crawl again', '<crawl>', [
      ['amble retry example', 'all failed pages; a crawl that has ended continues'],
      ['amble retry example --cause status/503 --domain example.org', 'only some of them'],
      ['amble retry example --cause timeout --preview', 'how many there are, and some of them'],
    ]),
  )
    .option('--cause <kind>', 'kind of error as "amble page --json" shows it: timeout, dns, status/503, ...')
    .option('--domain <domain>', 'only pages of this domain')
    .option('--preview', 'change nothing')
    .addHelpText(
      'after',
      `
A page gets as many further attempts as a new one, each with a slot. Earlier
attempts stay on record. "amble status" shows how many are done.`,
    )
    .action(async (crawl, options) => {
      const { retryCommand } = await import('./commands/retry.ts');
      onExit(await retryCommand(crawl, options));
    });
}

function addExcludeCommand(command: DefineCommand, onExit: OnExit): void {
  addOrderOptions(
    command('exclude', 'exclude URLs from a crawl while it runs', '<crawl> <pattern>', [
      ["amble exclude example '/calendar/*' --preview", 'how many pending pages match, and 20 of them'],
      ["amble exclude example '/calendar/*'", 'pending pages end as Rejected, links that match are skipped'],
    ]),
  )
    .option('--preview', 'change nothing')
    .addHelpText(
      'after',
      `
In a pattern, * matches anything. One that starts with / is compared with path
and query, any other with the whole URL. Pages in progress that match stop
at their next slot. It cannot be undone for pages that were rejected.`,
    )
    .action(async (crawl, pattern, options) => {
      const { excludeCommand } = await import('./commands/exclude.ts');
      onExit(await excludeCommand(crawl, pattern, options));
    });
}

function addStopCommands(command: DefineCommand, onExit: OnExit): void {
  addOrderOptions(
    command('stop-all', 'stop all crawls and domains at once', '', [
      ['amble stop-all --reason "a site complained"', 'no request starts once this command has returned'],
    ]),
  )
    .addHelpText(
      'after',
      `
Holds every crawl, also new ones, until "amble resume-all", across restarts. A
request that has been sent is completed. Nothing else is changed: what was
paused before is still paused afterwards.`,
    )
    .action(async (options) => {
      const { stopAllCommand } = await import('./commands/stop.ts');
      onExit(await stopAllCommand(options));
    });

  addOrderOptions(
    command('resume-all', 'lift stop-all', '', [['amble resume-all', 'what ran before runs again']]),
  ).action(async (options) => {
    const { resumeAllCommand } = await import('./commands/stop.ts');
    onExit(await resumeAllCommand(options));
  });
}

function addOrdersCommand(command: DefineCommand, onExit: OnExit): void {
  command('orders', 'list who paused, slowed or cancelled what, and why', '', [
    ['amble orders', 'the latest 100, also those given with the Temporal CLI'],
    ['amble orders --domain example.org', 'those about one domain'],
  ])
    .option('--crawl <id>', 'only orders about this crawl')
    .option('--domain <domain>', 'only orders about this domain')
    .option('--json', 'print JSON instead of text')
    .action(async (options) => {
      const { ordersCommand } = await import('./commands/orders.ts');
      onExit(await ordersCommand(options));
    });
}
