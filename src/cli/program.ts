/** The command line as people see it: commands, options, and help worth reading. */
import { Command, Option } from 'commander';
import { packageVersion } from '../core/package-root.ts';
import { commandMaker } from './command-maker.ts';
import type { ExitCode } from './exit.ts';
import { addSteering } from './steering.ts';

/**
 * `ended` hears the exit code of the command that ran. Commands are loaded when they are run: a look at the help does not
 * wait for Temporal and Postgres clients.
 */
export function buildProgram(ended: (code: ExitCode) => void): Command {
  const program = new Command('amble')
    .description('A polite, durable web crawler: kill it at any time, it goes on where it was.')
    .version(packageVersion, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(inOneLine(text)) })
    .addHelpText(
      'after',
      `
Examples:
  $ amble demo                                    see it work, on a small web of its own
  $ amble crawl https://example.org/              crawl a site, ten seconds between requests
  $ amble status                                  what has been crawled, what is running
  $ amble page https://example.org/about          where one page is now, and why
  $ amble domain pause example.org                leave a site alone for a while
  $ amble verify --all                            prove that every request was polite

With nothing configured, Amble starts a Temporal server and a Postgres of its own; their data is in .amble/.
Every setting: docs/configuration.md. Exit codes: 0 done, 1 failed, 2 bad input, 130 interrupted.`,
    );

  const command = commandMaker(program);

  command('crawl', 'crawl from one or more URLs and watch it happen', '[urls...]', [
    ['$ amble crawl https://example.org/', 'the whole site, politely'],
    [
      '$ amble crawl https://example.org/ --max-pages 200 --delay 5s-15s',
      'at most 200 pages, irregular gaps',
    ],
    ["$ amble crawl 'https://shop.example/search?q=lamp' --preset shop --keyword lamp", 'as a shop likes it'],
    ['$ amble crawl https://example.org/ --id example --detach', 'in the background, under a name'],
    ['$ amble crawl --id example', 'watch that crawl; takes it up again if its processes died'],
    ['$ amble crawl http://staging.test/ --resolve staging.test:127.0.0.1 --allow-network 127.0.0.0/8', ''],
  ])
    .option('--id <name>', 'name of the crawl; an id that exists joins that crawl')
    .option(
      '--preset <name>',
      'a way to crawl: smallweb, shop, news or broad (default: smallweb); other options override it',
    )
    .option('--max-pages <n>', 'fetch at most this many pages')
    .option('--max-pages-per-domain <n>', 'let at most this many pages of one domain into the crawl')
    .option('--max-depth <n>', 'follow at most this many links away from a start URL')
    .option('--sitemaps', 'also read the sitemaps of the start hosts, and crawl what they list')
    .option(
      '--scope <scope>',
      'stay on the same host, on the same site, or go anywhere: host, site, any (smallweb: site)',
    )
    .option(
      '--include <pattern>',
      'follow only links that match, such as "/docs/*" or "https://*.example.org/*"; may be repeated',
      collect,
    )
    .option('--exclude <pattern>', 'follow no links that match; may be repeated', collect)
    .option(
      '--delay <time>',
      'shortest gap between two requests to one domain, such as 10s or 5s-15s (smallweb: 10s)',
    )
    .option(
      '--keep-types <types>',
      'store these types too, without parsing them, such as application/pdf,image/*',
    )
    .option(
      '--resolve <name:address>',
      'send requests for this name to this address; may be repeated',
      collect,
    )
    .option(
      '--allow-network <cidr>',
      'allow addresses of this private or loopback network; may be repeated',
      collect,
    )
    .option('--keyword <word>', 'a word that all pages found from these URLs carry into the export')
    .option('--detach', 'start it in the background and return at once')
    .option('--json', 'end with one line of JSON on standard output: crawl, status, pages, attempts, seconds')
    .addHelpText(
      'after',
      `
Presets:
  smallweb   10 s between requests to a domain; what failed is tried again after an hour, three times in all
  shop       5 to 15 s by chance, shuffled, search and list pages before products; again after 15, 30, 60 minutes
  news       5 s, longer where a site is slow; again every hour, up to twelve times
  broad      1 s, any domain, a few pages of each at a time; again as smallweb`,
    )
    .action(async (urls, options) => {
      const { crawlCommand } = await import('./commands/crawl.ts');
      ended(await crawlCommand(urls, options));
    });

  command('status', 'show all crawls, or one in detail', '[crawl]', [
    ['$ amble status', 'a table of all crawls'],
    ['$ amble status example', 'counts, domains and open pages of one'],
    ['$ amble status example --json', 'for programs'],
  ])
    .option('--json', 'print JSON instead of tables')
    .action(async (crawl, options) => {
      const { statusCommand } = await import('./commands/status.ts');
      ended(await statusCommand(crawl, options));
    });

  addSteering(command, program, ended);

  command('export', "write a crawl's pages, with every attempt, to standard output", '<crawl>', [
    ['$ amble export example > example.jsonl', 'one JSON object a line, one line a page'],
    [`$ amble export example | jq -r 'select(.status=="Failed").url'`, 'what failed'],
  ])
    .addOption(new Option('--format <format>', 'how to write them').choices(['jsonl']).default('jsonl'))
    .action(async (crawl, options) => {
      const { exportCommand } = await import('./commands/export.ts');
      ended(await exportCommand(crawl, options));
    });

  command('up', 'start the engines and a worker, and keep them up', '', [
    ['$ amble up', 'until Ctrl-C; prints the addresses of what runs'],
    ['$ amble up --home .amble/demo', 'look again at what the demo crawled'],
  ]).action(async (options) => {
    const { upCommand } = await import('./commands/up.ts');
    ended(await upCommand(options));
  });

  command('worker', 'run a worker; start as many as you like, on as many machines', '', [
    ['$ amble worker', 'joins the engines of this home, or a Temporal server on localhost:7233'],
    ['$ TEMPORAL_ADDRESS=temporal:7233 DATABASE_URL=postgresql://... amble worker', 'joins yours'],
  ]).action(async (options) => {
    const { workerCommand } = await import('./commands/worker.ts');
    ended(await workerCommand(options));
  });

  command('demo', 'crawl a small web on this machine and see how it works', '', [
    ['$ amble demo', 'about twenty seconds; touches nothing outside this machine'],
  ])
    .option('--json', 'end with one line of JSON on standard output')
    .action(async (options) => {
      const { demoCommand } = await import('./commands/demo.ts');
      ended(await demoCommand(options));
    });

  return program;
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** Commander puts its suggestion on a second line. */
function inOneLine(text: string): string {
  const sentence = text
    .trim()
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ');
  return `amble: ${sentence}${/[.)]$/.test(sentence) ? '' : '.'}\n`;
}
