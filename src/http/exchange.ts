/** The result of one request. The caller decides what it means. */

/** The values of `page_crawls.error_kind`. */
export type ErrorKind =
  /** The name could not be resolved. */
  | 'dns'
  /** Nothing listens on the port. */
  | 'refused'
  /** There is no route to the host. */
  | 'unreachable'
  /** The certificate or the handshake failed. */
  | 'tls'
  /** No connection in time. */
  | 'connect-timeout'
  /** Connected, but no response headers in time. */
  | 'first-byte-timeout'
  /** The body did not end in time, or the connection timed out. */
  | 'timeout'
  /** The network policy refuses the address or the port. */
  | 'forbidden'
  /** The connection broke before or during the response. */
  | 'reset'
  /** The body ended too early. */
  | 'truncated'
  /** An encoding that was not accepted, or data that cannot be decoded. */
  | 'bad-encoding'
  /** The headers exceed their limit. */
  | 'headers-too-large'
  /** The response was not valid HTTP. */
  | 'bad-response'
  /** The bodies of all fetches of this process need too much memory. */
  | 'no-memory'
  /** The caller aborted it. */
  | 'aborted';

export function isTimeout(kind: ErrorKind): boolean {
  return kind === 'connect-timeout' || kind === 'first-byte-timeout' || kind === 'timeout';
}

/** Names are in lower case. Repeated headers are joined by a comma, those in `MULTI_LINE_HEADERS` by a line break. */
export type ResponseHeaders = Record<string, string>;

/** Joined by a comma, "otherbot: noindex" and "nofollow" would mean that both are for otherbot. */
export const MULTI_LINE_HEADERS: ReadonlySet<string> = new Set(['x-robots-tag']);

/** Each line of a header as it was sent. */
export function headerLines(headers: ResponseHeaders, name: string): string[] {
  return headers[name]?.split('\n') ?? [];
}

export interface ResponseExchange {
  kind: 'response';
  /** As `mayStart` returned it. */
  startedAt: number;
  status: number;
  headers: ResponseHeaders;
  /** Decoded. Of an unwanted body only the head. null: not read, or too large and dropped. */
  body: Buffer | null;
  /** Decoded bytes that were read, whether or not they were kept. */
  bodyBytes: number;
  /** From the request's start to the response's headers. */
  latencyMs: number;
  /** From the request's start to the end of the body, or to where it was cut. */
  durationMs: number;
  /** Why reading stopped before the end of the body. null: it was read to the end. */
  cut: null | 'too-large' | 'unwanted';
}

export interface FailedExchange {
  kind: 'error';
  errorKind: ErrorKind;
  /** A sentence for people. */
  message: string;
  /** As `mayStart` returned it. null: nothing was written. */
  startedAt: number | null;
  /** From the request's start, or from the attempt to connect if nothing was written. */
  durationMs: number;
  /** Of the response that was interrupted. */
  status?: number;
}

/** Not admitted, `mayStart` refused, or another address is to be tried: nothing was written. */
export interface RefusedExchange {
  kind: 'refused';
  reason: string;
  /** How long the connection took that was attempted for it, which the site noticed. null: none was. */
  connectedMs: number | null;
}

export type Exchange = ResponseExchange | FailedExchange | RefusedExchange;
