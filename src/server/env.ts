/** What the handlers of a request share. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { SecureHeadersVariables } from 'hono/secure-headers';

export interface Env {
  Variables: SecureHeadersVariables & {
    /** The name given at the login; null: none was. Absent: there was no login. */
    operator?: string | null;
  };
}

export type Api = OpenAPIHono<Env>;
