/** `amble export`: the pages of a crawl for other programs. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exportJsonl } from '../../storage/reports/export.ts';
import { type CommonOptions, configFor, unknownCrawl } from '../common-options.ts';
import { withDatabase } from '../connect/read-session.ts';
import { EXIT, type ExitCode } from '../terminal.ts';

export interface ExportOptions extends CommonOptions {
  format: string;
}

export async function exportCommand(crawlId: string, options: ExportOptions): Promise<ExitCode> {
  return withDatabase(configFor(options), async (db) => {
    const crawl = await db?.crawl.findUnique({ where: { id: crawlId }, select: { id: true } });
    if (!db || !crawl) throw unknownCrawl(crawlId, options);
    try {
      await pipeline(Readable.from(exportJsonl(db, crawlId)), process.stdout, { end: false });
    } catch (error) {
      // The reader closed the pipe, as in `amble export ... | head`.
      if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
    }
    return EXIT.ok;
  });
}
