/** The API under /api/v1, with its OpenAPI document. */
import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { packageVersion } from '../../core/package-root.ts';
import type { Api, Env } from '../env.ts';
import { type Services, whileDatabaseAnswers } from '../services.ts';
import { addCrawlRoutes } from './crawls.ts';
import { addDomainRoutes } from './domains.ts';
import { addPageRoutes } from './pages.ts';
import { explainError, problem } from './problem.ts';
import { addRecordRoutes } from './records.ts';

export const API_PATH = '/api/v1';

export function createApi(services: Services, log: (line: string) => void): Api {
  const api: Api = new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (result.success) return undefined;
      const [issue] = result.error.issues;
      const where = issue?.path.join('.') || result.target;
      return problem(400, `${where}: ${issue?.message ?? 'not valid'}.`);
    },
  });
  // Orders are waited for: nobody could tell whether they are carried out.
  api.use((c, next) => (c.req.method === 'GET' ? whileDatabaseAnswers(services, next()) : next()));
  addCrawlRoutes(api, services);
  addPageRoutes(api, services);
  addDomainRoutes(api, services);
  addRecordRoutes(api, services);
  api.openAPIRegistry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    description: 'Needed by others than this machine.',
  });
  api.doc31('/openapi.json', {
    openapi: '3.1.0',
    info: {
      title: 'Amble',
      version: packageVersion,
      description: 'Start, watch and control crawls.',
      license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
    },
    servers: [{ url: API_PATH }],
    security: [{}, { token: [] }],
  });
  refuseOtherMethods(api);
  api.onError((error, c) => answerError(error, c, log));
  return api;
}

/** A path that exists, with a method that it does not have. Added last, so that it is asked last. */
function refuseOtherMethods(api: Api): void {
  const allowed = new Map<string, Set<string>>();
  // What is for all paths makes none of them exist.
  const routes = api.routes.filter(({ path }) => path !== '/*');
  for (const { path, method } of routes) allowed.set(path, (allowed.get(path) ?? new Set()).add(method));
  for (const [path, methods] of allowed)
    api.all(path, (c) => {
      const refusal = problem(405, `${c.req.path} has no ${c.req.method}.`);
      refusal.headers.set('Allow', [...methods].join(', '));
      return refusal;
    });
}

function answerError(error: Error, c: Context<Env>, log: (line: string) => void): Response {
  const known = explainError(error);
  if (known !== null) return problem(known.status, known.detail);
  // Thrown by Hono, as for a body that is not JSON.
  if ('status' in error && typeof error.status === 'number' && error.status < 500)
    return error.status === 415
      ? problem(415, 'Send JSON, with "Content-Type: application/json".')
      : problem(error.status === 413 ? 413 : 400, error.message || 'The request is not understood.');
  log(`The API failed on ${c.req.method} ${c.req.path}: ${error.stack ?? error.message}`);
  return problem(500, 'Something went wrong; the log of the server says what.');
}
