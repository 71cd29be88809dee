/** `amble orders`: who changed what, when, through which channel, and why. */
import { parseDomain } from '../../operator/domains.ts';
import { listOrders } from '../../storage/orders.ts';
import { type CommonOptions, configFor } from '../common-options.ts';
import { storeName, withDatabase } from '../connect/read-session.ts';
import { renderOrders } from '../render/orders.ts';
import { EXIT, type ExitCode, writeErr, writeOut } from '../terminal.ts';

export interface OrdersOptions extends CommonOptions {
  crawl?: string;
  domain?: string;
  json?: boolean;
}

const MAX_ORDERS = 100;

export async function ordersCommand(options: OrdersOptions): Promise<ExitCode> {
  const config = configFor(options);
  const filter = {
    ...(options.crawl !== undefined && { crawlId: options.crawl }),
    ...(options.domain !== undefined && { domain: parseDomain(options.domain, config.politenessKey) }),
  };
  return withDatabase(config, async (db) => {
    const orders = db ? await listOrders(db, filter, MAX_ORDERS) : [];
    if (options.json) writeOut(JSON.stringify(orders));
    else if (orders.length === 0) writeOut(`No such orders in ${storeName(config)} yet.`);
    else for (const line of renderOrders(orders, new Date())) writeOut(line);
    if (orders.length === MAX_ORDERS) writeErr(`These are the latest ${MAX_ORDERS}.`);
    return EXIT.ok;
  });
}
