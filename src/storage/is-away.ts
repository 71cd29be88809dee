/** Whether an error says that the database could not be asked, and nothing about what it was asked. */
import { causesOf, codeOf } from '../causes.ts';

/** Of sockets; of Prisma, which hides what it met. */
const CODES = new Set<string | number | null>([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2028',
]);

/**
 * Classes of Postgres: connection, rollback (deadlocks), resources, objects in use, operators (on its way up or down, a
 * statement that took too long), and its own disk.
 */
const NOT_ABOUT_THE_STATEMENT = /^(08|40|53|55|57|58)[0-9A-Z]{3}$/;

/** pg has no codes for what it says itself. */
const SAID_BY_PG =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

export function isDatabaseAway(error: unknown): boolean {
  return causesOf(error).some((cause) => {
    const code = codeOf(cause);
    return CODES.has(code) || NOT_ABOUT_THE_STATEMENT.test(String(code)) || SAID_BY_PG.test(cause.message);
  });
}
