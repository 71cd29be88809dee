/** `amble exclude`: takes URLs out of a crawl that runs. */
import { excludePattern, parsePattern } from '../../operator/exclude-orders.ts';
import { findCrawl } from '../../storage/crawls.ts';
import { previewExclude } from '../../storage/frontier/exclude.ts';
import { configFor, unknownCrawl } from '../common-options.ts';
import { withDatabaseAndTemporal } from '../connect/read-session.ts';
import { cliOrigin, type OrderOptions } from '../order-options.ts';
import { renderExcludePreview } from '../render/orders.ts';
import { formatPlural } from '../render/text.ts';
import { EXIT, type ExitCode, writeOut } from '../terminal.ts';

export interface ExcludeOptions extends OrderOptions {
  preview?: boolean;
}

export async function excludeCommand(
  crawlId: string,
  typed: string,
  options: ExcludeOptions,
): Promise<ExitCode> {
  const pattern = parsePattern(typed);
  const origin = cliOrigin(options);
  return withDatabaseAndTemporal(configFor(options), async (db, client) => {
    if (db === null || (await findCrawl(db, crawlId)) === null) throw unknownCrawl(crawlId, options);
    if (options.preview) {
      const preview = await previewExclude(db, crawlId, pattern);
      for (const line of renderExcludePreview(preview)) writeOut(line);
      return EXIT.ok;
    }
    const rejected = await excludePattern({ db, client }, crawlId, pattern, origin);
    writeOut(
      `${formatPlural(rejected, 'pending page')} of crawl ${crawlId} rejected; further links that match are skipped.`,
    );
    return EXIT.ok;
  });
}
