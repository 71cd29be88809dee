/** What became of one request: the facts, for the caller to judge. */

/** What `page_crawls.error_kind` tells apart; docs/architecture.md lists them for people. */
export type ErrorKind =
  /** The name could not be looked up. */
  | 'dns'
  /** Nobody listens there. */
  | 'refused'
  /** No way leads there. */
  | 'unreachable'
  /** The certificate or the handshake. */
  | 'tls'
  /** No connection in time. */
  | 'connect-timeout'
  /** Connected, but no response headers in time. */
  | 'first-byte-timeout'
  /** The body did not end in time, or the connection went dead. */
  | 'timeout'
  /** The network policy refuses the address or the port. */
  | 'forbidden'
  /** The connection broke before the response began, or was torn down during it. */
  | 'reset'
  /** The body ended too early. */
  | 'truncated'
  /** An encoding nobody asked for, or data that is not what its encoding says. */
  | 'bad-encoding'
  /** The headers alone are over their limit. */
  | 'headers-too-large'
  /** What came was not HTTP. */
  | 'bad-response'
  /** Our own side called it off. */
  | 'aborted';

export function isTimeout(kind: ErrorKind): boolean {
  return kind === 'connect-timeout' || kind === 'first-byte-timeout' || kind === 'timeout';
}

/** Lower-case names; repeated headers are joined by a comma, those in `SEPARATE` by a line break. */
export type ResponseHeaders = Record<string, string>;

/** Joined by a comma, one line's words would become the next one's: "otherbot: noindex" and "nofollow". */
export const MULTI_LINE_HEADERS: ReadonlySet<string> = new Set(['x-robots-tag']);

/** Each line of a header, as it was sent. */
export function headerLines(headers: ResponseHeaders, name: string): string[] {
  return headers[name]?.split('\n') ?? [];
}

export interface ResponseExchange {
  kind: 'response';
  /** As the gate gave it. */
  startedAt: number;
  status: number;
  headers: ResponseHeaders;
  /** Decoded; of an unwanted one what it was judged by. null: not read, or too large and dropped. */
  body: Buffer | null;
  /** Decoded bytes that were read, kept or not. */
  bodyBytes: number;
  /** From the request's start to the response's headers. */
  latencyMs: number;
  /** From the request's start to the end of the body or to the cut. */
  tookMs: number;
  /** Why the connection was cut before the end of the body; null: it was read to its end. */
  cut: null | 'too-large' | 'unwanted';
}

export interface FailedExchange {
  kind: 'error';
  errorKind: ErrorKind;
  /** One sentence that a person understands. */
  message: string;
  /** As the gate gave it; null: not one byte was written. */
  startedAt: number | null;
  /** From the request's start; when nothing was written, from the attempt to connect. */
  tookMs: number;
  /** Of the response that broke off. */
  status?: number;
}

/** The gate said no: not one byte of a request was written. */
export interface RefusedExchange {
  kind: 'refused';
  reason: string;
  /** A connection was made for it, which the site has seen; false: one that stood already was to be used. */
  connected: boolean;
}

export type Exchange = ResponseExchange | FailedExchange | RefusedExchange;
