/** What became of one request: the facts, for the caller to judge. */

export type ErrorKind =
  /** The name could not be looked up. */
  | 'dns'
  /** No connection: refused, unreachable. */
  | 'connect'
  /** The certificate or the handshake. */
  | 'tls'
  /** Connecting, the headers or the whole took too long. */
  | 'timeout'
  /** The network policy refuses the address. */
  | 'forbidden'
  /** The connection broke before the response began, or was torn down during it. */
  | 'reset'
  /** The body ended too early. */
  | 'truncated'
  /** What came was not HTTP, or not decodable. */
  | 'protocol'
  /** Our own side called it off. */
  | 'aborted';

/** Lower-case names; repeated headers are joined by a comma. */
export type ResponseHeaders = Record<string, string>;

export interface ResponseExchange {
  kind: 'response';
  /** As the gate gave it. */
  startedAt: number;
  status: number;
  headers: ResponseHeaders;
  /** Decoded. null: it was not wanted, or too large and dropped. */
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

/** The gate said no: not one byte was written. */
export interface RefusedExchange {
  kind: 'refused';
  reason: string;
}

export type Exchange = ResponseExchange | FailedExchange | RefusedExchange;
