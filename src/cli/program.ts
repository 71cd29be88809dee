/** The command line as users see it: commands, options and help. */
import { Command, Option } from 'commander';
import { escapeControls } from '../core/format.ts';
import { packageVersion } from '../core/package-root.ts';
import { addCommonOptions, commandDefiner, type DefineCommand, type OnExit } from './define-command.ts';
import { addCrawlCommand } from './program-crawl.ts';
import { addDomainCommands } from './program-domain.ts';
import { addOrderCommands } from './program-orders.ts';

/** Commands are loaded when they run: help does not wait for the Temporal and Postgres clients. */
export function buildProgram(onExit: OnExit): Command {
  const program = new Command('amble')
    .description('A polite, durable web crawler. Kill it at any time: it continues where it stopped.')
    .version(packageVersion, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(inOneLine(text)) })
    .addHelpText(
      'after',
      `
Examples:
  $ amble demo                             crawl a small web on this machine
  $ amble crawl https://example.org/       crawl a site, 10 s between requests
  $ amble status                           list all crawls
  $ amble page https://example.org/about   where one page is now, and why
  $ amble domain pause example.org         send no requests to a site for a while
  $ amble verify --all                     prove that every request was polite

Without configuration, Amble starts its own Temporal server and Postgres and
keeps their data in .amble/. Settings: docs/configuration.md.
Exit codes: 0 done, 1 failed, 2 bad input, 130 interrupted.`,
    );

  const command = commandDefiner(program);
  addCrawlCommand(command, onExit);
  addReadingCommands(command, onExit);
  addDomainCommands(program, onExit);
  addOrderCommands(command, onExit);
  addProcessCommands(command, onExit);
  addCommonOptions(program);
  return program;
}

function addReadingCommands(command: DefineCommand, onExit: OnExit): void {
  command('status', 'list all crawls, or show one in detail', '[crawl]', [
    ['amble status', 'a table of all crawls'],
    ['amble status example', 'counts, domains and open pages of one crawl'],
    ['amble status example --json', 'the same for programs'],
  ])
    .option('--json', 'print JSON instead of text')
    .action(async (crawl, options) => {
      const { statusCommand } = await import('./commands/status.ts');
      onExit(await statusCommand(crawl, options));
    });

  command('page', "show a page's state, the reason, and every attempt", '<url>', [
    [
      'amble page https://example.org/about',
      '3rd of 12 in the queue for example.org, expected in 20 s; the gap is 10 s ...',
    ],
    ['amble page https://example.org/about --crawl example', 'the page in that crawl'],
  ])
    .option('--crawl <id>', 'crawl to look in (default: the newest one that has the page)')
    .option('--json', 'print JSON instead of text')
    .action(async (url, options) => {
      const { pageCommand } = await import('./commands/page.ts');
      onExit(await pageCommand(url, options));
    });

  command('export', 'write the pages of a crawl to standard output', '<crawl>', [
    ['amble export example > example.jsonl', 'one line of JSON per page, with every attempt'],
    [`amble export example | jq -r 'select(.status=="Failed").url'`, 'the URLs that failed'],
  ])
    .addOption(new Option('--format <format>', 'output format').choices(['jsonl']).default('jsonl'))
    .action(async (crawl, options) => {
      const { exportCommand } = await import('./commands/export.ts');
      onExit(await exportCommand(crawl, options));
    });

  command('verify', 'prove from the records that a crawl was polite', '[crawl]', [
    ['amble verify example', 'exit code 0 if every request was polite'],
    ['amble verify --all --json', 'every crawl on record, for programs'],
  ])
    .option('--all', 'verify every crawl on record')
    .option('--json', 'print one JSON object instead of tables: polite, domains, violations')
    .addHelpText(
      'after',
      `
Checks every recorded request, including robots.txt and its redirects, against
the gap that was required when it was granted, the robots.txt stored at that
time, and the retry policy of its crawl. A domain's gap is shared by all crawls,
so requests of other crawls to the same domains are checked too.

Prints each violation and exits with code 1 if there are any. A terminal shows
the 50 domains with the tightest gaps; a pipe or a file gets all of them.`,
    )
    .action(async (crawl, options) => {
      const { verifyCommand } = await import('./commands/verify.ts');
      onExit(await verifyCommand(crawl, options));
    });
}

function addProcessCommands(command: DefineCommand, onExit: OnExit): void {
  command('up', 'run Temporal, Postgres and a worker until Ctrl-C', '', [
    ['amble up', 'prints their addresses, that of the dashboard and that of the Temporal Web UI'],
    ['amble up --home .amble/demo', 'look at what the demo crawled'],
  ])
    .option('--listen <address>', 'address and port of the dashboard (default: localhost:8080)')
    .action(async (options) => {
      const { upCommand } = await import('./commands/up.ts');
      onExit(await upCommand(options));
    });

  command('doctor', 'find out what is wrong, with a cure for each finding', '', [
    ['amble doctor', 'exit code 1 if something is wrong'],
  ])
    .option('--json', 'print one line of JSON')
    .action(async (options) => {
      const { doctorCommand } = await import('./commands/doctor.ts');
      onExit(await doctorCommand(options));
    });

  command('server', 'serve the dashboard until Ctrl-C', '', [
    ['amble server', 'at http://localhost:8080, for this machine alone'],
    [
      'AMBLE_SERVER_TOKEN=... amble server --listen 0.0.0.0:8080',
      'for others too; they are asked for the token',
    ],
    ['amble server --bot-only --listen 0.0.0.0:80', 'the page for owners of sites alone, for everybody'],
  ])
    .option('--listen <address>', 'address and port (default: localhost:8080)')
    .option('--bot-only', 'serve only the page for owners of sites, to everybody')
    .action(async (options) => {
      const { serverCommand } = await import('./commands/server.ts');
      onExit(await serverCommand(options));
    });

  command('worker', 'run one more worker, here or on another machine', '', [
    ['amble worker', 'joins the servers of this home, or Temporal on localhost:7233'],
    [
      'TEMPORAL_ADDRESS=temporal:7233 DATABASE_URL=postgresql://... amble worker',
      'joins your own Temporal server and database',
    ],
  ]).action(async (options) => {
    const { workerCommand } = await import('./commands/worker.ts');
    onExit(await workerCommand(options));
  });

  command('migrate', 'bring the database to the schema of this version, and end', '', [
    ['DATABASE_URL=postgresql://... amble migrate', 'before new workers start; every start does it too'],
  ]).action(async (options) => {
    const { migrateCommand } = await import('./commands/migrate.ts');
    onExit(await migrateCommand(options));
  });

  command('demo', 'crawl a small web on this machine', '', [
    ['amble demo', 'takes about 20 seconds; sends nothing outside this machine'],
  ])
    .option('--json', 'print one line of JSON at the end')
    .option('--stay', 'keep the dashboard up after the crawl (default at a terminal)')
    .option('--no-stay', 'end with the crawl')
    .action(async (options) => {
      const { demoCommand } = await import('./commands/demo.ts');
      onExit(await demoCommand(options));
    });
}

/** Commander puts its suggestion on a second line. */
function inOneLine(text: string): string {
  const sentence = text
    .trim()
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ');
  return `amble: ${escapeControls(sentence)}${/[.)]$/.test(sentence) ? '' : '.'}\n`;
}
