/** Turns errors of sockets, TLS and undici into a kind, for statistics, and a sentence, for people. */
import { errors } from 'undici';
import { codeOf } from '../core/errors.ts';
import { truncateText } from '../core/format.ts';
import type { ErrorKind } from './exchange.ts';
import { ForbiddenAddressError, LookupError } from './origin-addresses.ts';

/** Of another program's message within our own sentence. */
const MAX_MESSAGE_LENGTH = 300;

export interface Failure {
  errorKind: ErrorKind;
  message: string;
}

export interface FailureContext {
  /** Host and port as in the URL. */
  host: string;
  /** How far the request got. */
  phase: 'connecting' | 'waiting' | 'reading';
}

/** What undici and Node throw for a request that may not be written as it is: a line break in a header, a space in a path. */
const MALFORMED_REQUEST =
  /^(UND_ERR_INVALID_ARG|UND_ERR_NOT_SUPPORTED|UND_ERR_REQ_CONTENT_LENGTH_MISMATCH|ERR_INVALID_(ARG_TYPE|ARG_VALUE|CHAR|URL)|ERR_UNESCAPED_CHARACTERS)$/;

/** If we built the request wrongly, the error is ours, and says nothing about the site. null: it is not that. */
export function malformedRequest(error: Error, host: string): Error | null {
  if (!MALFORMED_REQUEST.test(String(codeOf(error)))) return null;
  return new Error(`The request to ${host} was malformed: ${error.message}`, { cause: error });
}

export function describeFailure(error: Error, { host, phase }: FailureContext): Failure {
  if (error instanceof ForbiddenAddressError) {
    return { errorKind: 'forbidden', message: `${host} was not contacted: ${error.reason}.` };
  }
  if (error instanceof LookupError) return { errorKind: 'dns', message: describeLookup(error.code, host) };
  const code = String(codeOf(error));
  if (error.message.includes('secure TLS connection was established')) {
    return { errorKind: 'tls', message: `${host} closed the connection during the TLS handshake.` };
  }
  if (TLS_CODE.test(code)) {
    return { errorKind: 'tls', message: `No secure connection to ${host}: ${firstLine(error.message)}.` };
  }
  const known = BY_CODE[code];
  if (known !== undefined) return known(host, phase);
  if (error instanceof errors.HTTPParserError) {
    // This is how the parser reports that the connection closed between two chunks. It has no code.
    if (error.message.includes('Invalid EOF')) return closedByServer(host, phase);
    return {
      errorKind: 'bad-response',
      message: `What ${host} sent is not valid HTTP: ${firstLine(error.message)}.`,
    };
  }
  const errorKind = phase === 'connecting' ? 'unreachable' : 'bad-response';
  return { errorKind, message: `The request to ${host} failed: ${firstLine(error.message)}.` };
}

/** For a body that could not be decoded. */
export function describeBadBody(error: Error, host: string): Failure {
  return codeOf(error) === 'Z_BUF_ERROR'
    ? { errorKind: 'truncated', message: `The compressed body that ${host} sent ends too early.` }
    : { errorKind: 'bad-encoding', message: `The compressed body that ${host} sent is damaged.` };
}

function describeLookup(code: string, host: string): string {
  switch (code) {
    case 'ENOTFOUND':
      return `There is no host named ${host} (ENOTFOUND).`;
    case 'ENODATA':
      return `The name ${host} has no address (ENODATA).`;
    case 'ETIMEOUT':
      return `The name servers did not answer in time for ${host} (ETIMEOUT).`;
    default:
      return `The name ${host} could not be looked up (${code}).`;
  }
}

const TLS_CODE =
  /^(ERR_TLS|ERR_SSL|EPROTO$|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA)/;

const BY_CODE: Record<string, (host: string, phase: FailureContext['phase']) => Failure> = {
  ECONNREFUSED: (host) => ({ errorKind: 'refused', message: `The connection to ${host} was refused.` }),
  EHOSTUNREACH: (host) => ({ errorKind: 'unreachable', message: `There is no route to ${host}.` }),
  ENETUNREACH: (host) => ({ errorKind: 'unreachable', message: `The network of ${host} is unreachable.` }),
  ETIMEDOUT: (host, phase) =>
    phase === 'connecting'
      ? { errorKind: 'connect-timeout', message: `${host} did not accept the connection in time.` }
      : { errorKind: 'timeout', message: `The connection to ${host} timed out.` },
  UND_ERR_CONNECT_TIMEOUT: (host) => ({
    errorKind: 'connect-timeout',
    message: `Connecting to ${host} timed out.`,
  }),
  UND_ERR_HEADERS_OVERFLOW: (host) => ({
    errorKind: 'headers-too-large',
    message: `The headers that ${host} sent are too large.`,
  }),
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: (host) => ({
    errorKind: 'truncated',
    message: `The body that ${host} sent is not as long as its Content-Length says.`,
  }),
  UND_ERR_SOCKET: closedByServer,
  ECONNRESET: reset,
  EPIPE: reset,
};

function closedByServer(host: string, phase: FailureContext['phase']): Failure {
  return phase === 'reading'
    ? { errorKind: 'truncated', message: `${host} closed the connection in the middle of the body.` }
    : { errorKind: 'reset', message: `${host} closed the connection without an answer.` };
}

function reset(host: string, phase: FailureContext['phase']): Failure {
  const when = {
    connecting: 'while connecting',
    waiting: 'before it answered',
    reading: 'in the middle of the body',
  };
  return { errorKind: 'reset', message: `${host} reset the connection ${when[phase]}.` };
}

/** OpenSSL's messages continue with source files and line numbers, and a certificate may have hundreds of names. */
function firstLine(message: string): string {
  return truncateText((message.split('\n', 1)[0] ?? '').replace(/\.$/, ''), MAX_MESSAGE_LENGTH);
}
