/**
 * Errors that mean that the database is unavailable. They say nothing about the page, so the step is retried until the database is
 * back; any other error ends the page.
 */
import { causesOf, codeOf, messageOf } from '../core/errors.ts';

/** Codes of sockets, of Prisma (which hides the original error) and of Postgres. */
const CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection broken',
  EPIPE: 'connection broken',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'no route',
  ENETUNREACH: 'no route',
  ENOTFOUND: 'unknown host name',
  EAI_AGAIN: 'host name lookup failed',
  P1000: 'login refused',
  P1001: 'unreachable',
  P1002: 'unreachable: timeout',
  P1003: 'no such database',
  P1008: 'operation timed out',
  P1010: 'access denied',
  P1011: 'no TLS connection',
  P1017: 'connection closed',
  P2024: 'no free connection in the pool',
  P2028: 'transaction could not start or was lost',
  P2034: 'deadlock',
  P2037: 'too many connections',
  '25006': 'read-only: a standby, before or after a failover',
  '3D000': 'no such database, perhaps while it is being restored',
};

/** Classes of Postgres codes: their first two characters. */
const CLASSES: Readonly<Record<string, string>> = {
  '08': 'connection',
  '28': 'login refused, perhaps after a change of password',
  '40': 'rolled back, for example after a deadlock',
  '53': 'out of disk, memory or connections',
  '55': 'object in use',
  '57': 'starting up, shutting down, or statement timeout',
  '58': 'disk error of the server',
};

const LOGIN_REFUSED = /^(28...|P1000|P1010)$/;
const NO_SUCH_DATABASE = /^(3D000|P1003)$/;

/** The certificate of the server has expired, or was replaced; our codes of it are OpenSSL's. */
const TLS_FAILED =
  /^(CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO$|P1011$)/;
/** Of pg, without a code. */
const NO_TLS =
  /^(The server does not support SSL connections|There was an error establishing an SSL connection)/;

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Errors of pg itself have no code. */
const PG_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

export function isDatabaseUnavailable(error: unknown): boolean {
  return causesOf(error).some((cause) => {
    const code = String(codeOf(cause));
    const knownClass = SQLSTATE.test(code) && Object.hasOwn(CLASSES, code.slice(0, 2));
    return Object.hasOwn(CODES, code) || knownClass || PG_MESSAGES.test(cause.message) || isTlsFailure(cause);
  });
}

function isTlsFailure(cause: Error): boolean {
  return TLS_FAILED.test(String(codeOf(cause))) || NO_TLS.test(cause.message);
}

/** One sentence that names the setting, for a database that a command cannot use. Any other error is returned as it is. */
export function explainDatabaseError(error: unknown, databaseUrl: string): unknown {
  if (!isDatabaseUnavailable(error)) return error;
  const { host, username, pathname } = new URL(databaseUrl);
  const codes = causesOf(error).map((cause) => String(codeOf(cause)));
  const reason = messageOf(error).trim().split('\n').at(-1);
  const sentence = codes.some((code) => LOGIN_REFUSED.test(code))
    ? `Postgres at ${host} refuses the user "${decodeURIComponent(username)}": correct DATABASE_URL (${reason}).`
    : codes.some((code) => NO_SUCH_DATABASE.test(code))
      ? `Postgres at ${host} has no database "${pathname.slice(1)}": create it, or correct DATABASE_URL.`
      : causesOf(error).some(isTlsFailure)
        ? `Postgres at ${host} cannot be reached with TLS: correct host, sslmode or sslrootcert in DATABASE_URL, or its certificate (${reason}).`
        : `Postgres at ${host} is unavailable: start it, correct DATABASE_URL, or unset it to use Amble's own (${reason}).`;
  return new Error(sentence, { cause: error });
}
