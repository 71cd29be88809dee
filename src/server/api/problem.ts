/** Errors as RFC 9457 problem details. */
import { z } from '@hono/zod-openapi';
import { BadInput } from '../../core/errors.ts';
import { CrawlConflict, NoWorker, UnknownCrawl } from '../../operator/errors.ts';
import { isDatabaseUnavailable } from '../../storage/database-unavailable.ts';
import { isTemporalUnavailable } from '../../temporal/connection.ts';

export const ProblemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().openapi({ description: 'One sentence for people.' }),
  })
  .openapi('Problem');

export type Problem = z.infer<typeof ProblemSchema>;

const TITLES = {
  400: 'Bad request',
  401: 'Token needed',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  413: 'Content too large',
  414: 'URI too long',
  415: 'Unsupported media type',
  421: 'Misdirected request',
  500: 'Internal error',
  503: 'Unavailable',
} as const;

export type ProblemStatus = keyof typeof TITLES;

export function titleOf(status: ProblemStatus): string {
  return TITLES[status];
}

export function problem(status: ProblemStatus, detail: string): Response {
  const body: Problem = { type: 'about:blank', title: TITLES[status], status, detail };
  return Response.json(body, { status, headers: { 'Content-Type': 'application/problem+json' } });
}

/** There is nothing of that name. */
export class NotFound extends Error {}

/** null: it is a bug, or not known. */
export function explainError(error: unknown): { status: ProblemStatus; detail: string } | null {
  if (error instanceof NotFound || error instanceof UnknownCrawl)
    return { status: 404, detail: error.message };
  if (error instanceof CrawlConflict) return { status: 409, detail: error.message };
  if (error instanceof BadInput) return { status: 400, detail: error.message };
  if (error instanceof NoWorker) return { status: 503, detail: error.message };
  if (isDatabaseUnavailable(error)) return { status: 503, detail: 'Postgres is unavailable.' };
  if (isTemporalUnavailable(error)) return { status: 503, detail: 'Temporal is unavailable.' };
  return null;
}

const problemBody = { content: { 'application/problem+json': { schema: ProblemSchema } } };

/** For the definition of a route. Every route may be refused for want of a token, or because its address is too long. */
export function problems<Status extends ProblemStatus>(...statuses: Status[]) {
  const responses = [401 as const, 414 as const, ...statuses].map((status) => [
    status,
    { description: TITLES[status], ...problemBody },
  ]);
  return Object.fromEntries(responses) as Record<
    401 | 414 | Status,
    { description: string; content: (typeof problemBody)['content'] }
  >;
}
