/** `amble verify`: proves from what was recorded that a crawl was polite, or names where it was not. */
import { BadInput } from '../../config/index.ts';
import { readRecords } from '../../storage/reports/requests.ts';
import { prove } from '../../verify/index.ts';
import { openStore } from '../connect/store.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { commandLine } from '../render/command-line.ts';
import { noSuchCrawl } from '../render/no-such-crawl.ts';
import { renderProof } from '../render/proof.ts';
import { print } from '../render/terminal.ts';
import { type CommonOptions, configFor } from '../settings.ts';

export interface VerifyOptions extends CommonOptions {
  all?: boolean;
  json?: boolean;
}

export async function verifyCommand(crawlId: string | undefined, options: VerifyOptions): Promise<ExitCode> {
  if ((crawlId === undefined) === !options.all) {
    const list = commandLine(['status'], options);
    throw new BadInput(
      `Name one crawl to verify, or give --all for every crawl on record; "${list}" lists them.`,
    );
  }
  const config = configFor(options);
  const store = await openStore(config);
  try {
    const known =
      crawlId === undefined ? store : await store?.db.crawl.findUnique({ where: { id: crawlId } });
    if (!store || !known) {
      if (crawlId !== undefined) throw noSuchCrawl(crawlId, options);
      throw new BadInput('Nothing has been crawled here yet, so there is nothing to verify.');
    }
    const proof = await prove(
      readRecords(store.db, crawlId ?? null),
      (request) => crawlId === undefined || request.crawlId === crawlId,
    );
    if (options.json) print(JSON.stringify({ polite: proof.violationCount === 0, ...proof }));
    else for (const line of renderProof(proof, { everyDomain: !process.stdout.isTTY })) print(line);
    return proof.violationCount === 0 ? EXIT.ok : EXIT.failed;
  } finally {
    await store?.close();
  }
}
