/** `amble verify`: proves from the records that a crawl was polite, or lists where it was not. */
import { BadInput } from '../../config/index.ts';
import { readRecords } from '../../storage/reports/requests.ts';
import { prove } from '../../verify/index.ts';
import { type CommonOptions, configFor, formatCommand, unknownCrawl } from '../common-options.ts';
import { storeName, withDatabase } from '../connect/read-session.ts';
import { renderProof } from '../render/proof.ts';
import { EXIT, type ExitCode, writeOut } from '../terminal.ts';

export interface VerifyOptions extends CommonOptions {
  all?: boolean;
  json?: boolean;
}

export async function verifyCommand(crawlId: string | undefined, options: VerifyOptions): Promise<ExitCode> {
  if ((crawlId === undefined) === !options.all) {
    const list = formatCommand(['status'], options);
    throw new BadInput(
      `Give either the crawl to verify or --all for every crawl on record; "${list}" lists them.`,
    );
  }
  const config = configFor(options);
  return withDatabase(config, async (db) => {
    const exists = crawlId === undefined ? db : await db?.crawl.findUnique({ where: { id: crawlId } });
    if (!db || !exists) {
      if (crawlId !== undefined) throw unknownCrawl(crawlId, options);
      throw new BadInput(`Nothing to verify: there are no crawls in ${storeName(config)} yet.`);
    }
    const proof = await prove(
      readRecords(db, crawlId ?? null),
      (request) => crawlId === undefined || request.crawlId === crawlId,
    );
    if (options.json) writeOut(JSON.stringify({ polite: proof.violationCount === 0, ...proof }));
    else for (const line of renderProof(proof, { everyDomain: !process.stdout.isTTY })) writeOut(line);
    return proof.violationCount === 0 ? EXIT.ok : EXIT.failed;
  });
}
