/** The dashboard of a worker of its own, in a real browser. */
import type { Page } from 'playwright-core';
import { type RunningServer, startServer } from '../../src/server/listen.ts';
import { createServices } from '../../src/server/services.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { type Site, startWeb, type TestWeb } from '../support/web.ts';
import { type RunningBrowser, startBrowser } from './chromium.ts';
import { type DESKTOP, visit } from './visit.ts';

export interface BrowserTest {
  amble: Amble;
  web: TestWeb;
  chromium: RunningBrowser;
  server: RunningServer;
  open<T>(path: string, options: typeof DESKTOP, act: (page: Page) => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

export async function startBrowserTest(sites: Record<string, Site>): Promise<BrowserTest> {
  const web = await startWeb(sites);
  // The form to start a crawl has no fields for the network.
  const [amble, chromium] = await Promise.all([startAmble({ ...web.network }), startBrowser()]);
  const server = await serveTest(amble);
  return {
    ...{ amble, web, chromium, server },
    open: (path, options, act) => visit(chromium.browser, server.url, path, options, act),
    async stop() {
      await chromium.stop();
      await server.stop();
      await amble.stop();
      await web.stop();
    },
  };
}

/** On a free port. What it logs are errors. */
export function serveTest({
  config,
  db,
  client,
}: Pick<Amble, 'config' | 'db' | 'client'>): Promise<RunningServer> {
  const services = createServices({ config, db, client, temporalUi: null });
  return startServer(services, { host: 'localhost', port: 0 }, (line) => {
    throw new Error(line);
  });
}
