/** The `amble crawl` command and its options. */
import type { DefineCommand, OnExit } from './define-command.ts';

export function addCrawlCommand(command: DefineCommand, onExit: OnExit): void {
  command('crawl', 'crawl from one or more URLs and show the progress', '[urls...]', [
    ['amble crawl https://example.org/', 'the whole site, politely'],
    [
      'amble crawl https://example.org/ --max-pages 200 --delay 5s-15s',
      'at most 200 pages, with random gaps',
    ],
    [
      "amble crawl 'https://shop.example/search?q=lamp' --preset shop --keyword lamp",
      'tuned for shops; pages are labelled "lamp" in the export',
    ],
    ['amble crawl https://example.org/ --id example --detach', 'in the background, with a name'],
    ['amble crawl --id example', 'watch that crawl, or resume it if its processes died'],
    [
      'amble crawl http://staging.test/ --resolve staging.test:127.0.0.1 --allow-network 127.0.0.0/8',
      'a site on this machine',
    ],
  ])
    .option('--id <id>', 'name of the crawl; the id of an existing crawl joins it')
    .option(
      '--preset <name>',
      'way to crawl: smallweb, shop, news or broad (default: smallweb); other options override it',
    )
    .option('--max-pages <n>', 'fetch at most this many pages')
    .option('--max-pages-per-domain <n>', 'add at most this many pages of one domain to the crawl')
    .option('--max-depth <n>', 'follow links at most this many steps away from a seed')
    .option('--sitemaps', 'also crawl the pages listed in the sitemaps of the start hosts')
    .option(
      '--scope <scope>',
      'stay on the same host, stay on the same site, or go anywhere: host, site or any (smallweb: site)',
    )
    .option(
      '--include <pattern>',
      'follow only matching links, such as "/docs/*" or "https://*.example.org/*"; repeatable',
      collect,
    )
    .option('--exclude <pattern>', 'do not follow matching links; repeatable', collect)
    .option(
      '--delay <time>',
      'minimum gap between two requests to one domain, such as 10s or 5s-15s (smallweb: 10s)',
    )
    .option(
      '--keep-types <types>',
      'also store these content types, without parsing them, such as application/pdf,image/*',
    )
    .option(
      '--resolve <name:address>',
      'send requests for this host name to this address; repeatable',
      collect,
    )
    .option(
      '--allow-network <cidr>',
      'allow addresses of this private or loopback network; repeatable',
      collect,
    )
    .option('--keyword <word>', 'label all pages found from these URLs with this keyword in the export')
    .option('--detach', 'crawl in the background and return at once')
    .option('--json', 'print one line of JSON at the end: crawl, status, pages, attempts, seconds')
    .addHelpText(
      'after',
      `
Presets:
  smallweb   10 s between requests to a domain; at most 3 attempts, 1 h apart
  shop       5 to 15 s at random, shuffled, search and list pages before
             products; at most 4 attempts, 15, 30 and 60 min apart
  news       5 s, longer for slow sites; at most 13 attempts, 1 h apart
  broad      1 s, any domain; at most 3 attempts, 1 h apart`,
    )
    .action(async (urls, options) => {
      const { crawlCommand } = await import('./commands/crawl.ts');
      onExit(await crawlCommand(urls, options));
    });
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
