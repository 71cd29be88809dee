/** The dashboard on the engines of a test, asked without a network. */
import type { Hono } from 'hono';
import { createApp } from '../../src/server/app.tsx';
import type { Env } from '../../src/server/env.ts';
import { LiveFeeds } from '../../src/server/live.ts';
import { createServices, type Services } from '../../src/server/services.ts';
import type { Amble } from '../support/amble.ts';

/** Short, so that a test need not wait for it. */
const TICK_MS = 50;

export interface Dashboard {
  services: Services;
  app: Hono<Env>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
}

export function openDashboard(
  amble: Pick<Amble, 'config' | 'db' | 'client'>,
  overrides: Partial<Services> = {},
): Dashboard {
  const { config, db, client } = amble;
  const services = createServices({ config, db, client, temporalUi: null, ...overrides });
  const log = (line: string) => {
    throw new Error(line);
  };
  const app = createApp({ services, hosts: [], token: null, log, feeds: new LiveFeeds(TICK_MS) });
  return {
    services,
    app,
    get: async (path, headers = {}) => app.request(path, { headers: { Host: 'localhost', ...headers } }),
  };
}
