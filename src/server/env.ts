/** What the handlers of a request share. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { SecureHeadersVariables } from 'hono/secure-headers';

export interface Env {
  Variables: SecureHeadersVariables & {
    /** The name given at the login, or by a browser that needs none; null: none was. Absent: neither is possible. */
    operator?: string | null;
    /** There is no login, so that browsers may name themselves. */
    namesItself?: boolean;
  };
}

export type Api = OpenAPIHono<Env>;
