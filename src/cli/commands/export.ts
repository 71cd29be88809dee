/** `amble export`: the pages of a crawl for other programs. */
import { exportJsonl } from '../../storage/reports/export.ts';
import { type CommonOptions, configFor, unknownCrawl } from '../common-options.ts';
import { withDatabase } from '../connect/read-session.ts';
import { EXIT, type ExitCode, writeOutAll } from '../terminal.ts';

export interface ExportOptions extends CommonOptions {
  format: string;
}

export async function exportCommand(crawlId: string, options: ExportOptions): Promise<ExitCode> {
  return withDatabase(configFor(options), async (db) => {
    const crawl = await db?.crawl.findUnique({ where: { id: crawlId }, select: { id: true } });
    if (!db || !crawl) throw unknownCrawl(crawlId, options);
    await writeOutAll(exportJsonl(db, crawlId));
    return EXIT.ok;
  });
}
