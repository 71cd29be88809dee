/** The parts of hono/jsx that views use. */

export { raw } from 'hono/html';
export type { Child } from 'hono/jsx';
