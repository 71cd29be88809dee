/**
 * Whether an error says that the database could not be asked, and nothing about what it was asked. A fault of the page's own
 * ends the page; these are ours, and are waited out.
 */
import { causesOf, codeOf } from '../core/errors.ts';

/** Of sockets; of Prisma, which hides what it met; of Postgres. */
const CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens',
  ECONNRESET: 'the connection broke',
  EPIPE: 'the connection broke',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'no way there',
  ENETUNREACH: 'no way there',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name could not be looked up',
  P1000: 'the login is refused',
  P1001: 'cannot be reached',
  P1002: 'cannot be reached in time',
  P1003: 'the database is not there',
  P1008: 'an operation took too long',
  P1010: 'access is denied',
  P1011: 'no secure connection',
  P1017: 'the connection was closed',
  P2024: 'no connection was free',
  P2028: 'the transaction could not be begun or was lost',
  P2034: 'a deadlock',
  P2037: 'too many connections',
  '25006': 'read-only: a standby, before or after a failover',
  '3D000': 'the database is not there: it is being restored, perhaps',
};

/** The first two characters of a code of Postgres. */
const CLASSES: Readonly<Record<string, string>> = {
  '08': 'connection',
  '28': 'the login is refused: a password was changed, perhaps',
  '40': 'rolled back: a deadlock',
  '53': 'out of disk, memory or connections',
  '55': 'something is in use',
  '57': 'an operator: on its way up or down, or a statement that took too long',
  '58': 'its own disk',
};

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** pg has no codes for what it says itself. */
const SAID_BY_PG =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

export function isDatabaseAway(error: unknown): boolean {
  return causesOf(error).some((cause) => {
    const code = String(codeOf(cause));
    const knownClass = SQLSTATE.test(code) && Object.hasOwn(CLASSES, code.slice(0, 2));
    return Object.hasOwn(CODES, code) || knownClass || SAID_BY_PG.test(cause.message);
  });
}
