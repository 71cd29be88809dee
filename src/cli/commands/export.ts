/** `amble export`: a crawl's pages for other programs. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exportJsonl } from '../../storage/reports/export.ts';
import { openStore } from '../connect/store.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { noSuchCrawl } from '../render/no-such-crawl.ts';
import { type CommonOptions, configFor } from '../settings.ts';

export interface ExportOptions extends CommonOptions {
  format: string;
}

export async function exportCommand(crawlId: string, options: ExportOptions): Promise<ExitCode> {
  const store = await openStore(configFor(options));
  try {
    const crawl = await store?.db.crawl.findUnique({ where: { id: crawlId }, select: { id: true } });
    if (!store || !crawl) throw noSuchCrawl(crawlId, options);
    await pipeline(Readable.from(exportJsonl(store.db, crawlId)), process.stdout, { end: false });
    return EXIT.ok;
  } catch (error) {
    // `amble export ... | head` has seen enough.
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return EXIT.ok;
    throw error;
  } finally {
    await store?.close();
  }
}
