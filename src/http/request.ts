/**
 * One request, sent at most once. `mayStart` is called in the very tick in which the headers are written, so nothing (a slow lookup,
 * a frozen process) comes between its permission and the write. If it refuses, nothing is written. Redirects are not followed and
 * nothing is retried, because both need a slot of their own.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { truncateText } from '../core/format.ts';
import {
  ACCEPT_ENCODING,
  type BodyCollector,
  type CollectedBody,
  collectBody,
  parseContentEncoding,
} from './body.ts';
import type { Coding } from './decode.ts';
import type { ErrorKind, Exchange, ResponseExchange, ResponseHeaders } from './exchange.ts';
import { describeBadBody, describeFailure, type Failure, malformedRequest } from './failure.ts';
import type { PendingDispatch } from './pending-dispatches.ts';
import { PieceLimits } from './piece-limits.ts';
import type { AcceptHead, RequestOptions, StartVerdict } from './request-options.ts';
import { flattenHeaders } from './response-headers.ts';

/**
 * `address`: the only one that the request may go to. null: any. Rejects if the request itself is malformed, which is an error of
 * ours and not a result of the site.
 */
export function dispatchRequest(options: RequestOptions, address: string | null): Promise<Exchange> {
  return new Promise((resolve) => {
    new Call(options, address, resolve).dispatch();
  });
}

interface Head {
  status: number;
  headers: ResponseHeaders;
  latencyMs: number;
  codings: Coding[];
  acceptHead: AcceptHead;
}

class Call implements Dispatcher.DispatchHandler {
  readonly #options: RequestOptions;
  readonly #url: URL;
  readonly #address: string | null;
  readonly #resolve: (exchange: Exchange | Promise<never>) => void;
  readonly #onAbort = () =>
    this.#fail({ errorKind: 'aborted', message: `The request to ${this.#url.host} was aborted.` });
  readonly #onNoMemory = () =>
    this.#fail({
      errorKind: 'no-memory',
      message: `The response of ${this.#url.host} was dropped, because the bodies of all open fetches need too much memory.`,
    });
  #controller: Dispatcher.DispatchController | null = null;
  /** null: before the dispatch. */
  #dispatch: PendingDispatch | null = null;
  #startedAt: number | null = null;
  /** Monotonic time of the write, or of the dispatch before that. */
  #clockAtStart = performance.now();
  #head: Head | null = null;
  readonly #pieces: PieceLimits;
  #body: BodyCollector | null = null;
  #headersTimer: NodeJS.Timeout | undefined;
  #totalTimer: NodeJS.Timeout | undefined;
  #settled = false;

  constructor(
    options: RequestOptions,
    address: string | null,
    resolve: (exchange: Exchange | Promise<never>) => void,
  ) {
    this.#options = options;
    this.#url = new URL(options.url);
    this.#pieces = new PieceLimits(this.#url.host);
    this.#address = address;
    this.#resolve = resolve;
  }

  dispatch(): void {
    const { signal, agent, headers, memory } = this.#options;
    if (signal?.aborted) {
      this.#onAbort();
      return;
    }
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    memory.signal.addEventListener('abort', this.#onNoMemory, { once: true });
    this.#dispatch = agent.pending.add(this.#url.origin);
    agent.dispatch(
      {
        origin: this.#url.origin,
        path: this.#url.pathname + this.#url.search,
        method: 'GET',
        headers: { 'accept-encoding': ACCEPT_ENCODING, ...headers },
        // Our own timers start with the request. undici's restart with every chunk, and are coarse.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      this,
    );
  }

  /** undici calls this right before it writes the headers. If aborted here, it writes nothing. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settled) {
      controller.abort(new Error('aborted while connecting'));
      return;
    }
    this.#controller = controller;
    this.#endDispatch();
    if (this.#startedAt !== null) {
      this.#fail({
        errorKind: 'reset',
        message: `The connection to ${this.#url.host} broke before the response; the request was not sent again.`,
      });
      return;
    }
    const verdict = this.#refuseOtherAddress() ?? this.#options.mayStart();
    if (!verdict.go) {
      this.#settle({
        kind: 'refused',
        reason: verdict.reason,
        connectedMs: this.#dispatch?.connected ? this.#elapsed() : null,
      });
      return;
    }
    this.#startedAt = verdict.startedAt;
    this.#clockAtStart = performance.now();
    const { headersTimeoutMs, totalTimeoutMs } = this.#options.limits;
    this.#headersTimer = setTimeout(
      () => this.#timeOut('first-byte-timeout', 'did not answer', headersTimeoutMs),
      headersTimeoutMs,
    );
    this.#totalTimer = setTimeout(
      () => this.#timeOut('timeout', 'did not finish', totalTimeoutMs),
      totalTimeoutMs,
    );
  }

  /** Several requests may be open to an origin, and its name may lead elsewhere in the meantime. */
  #refuseOtherAddress(): Extract<StartVerdict, { go: false }> | null {
    if (this.#address === null) return null;
    const connected = this.#options.agent.addresses.connectedTo(this.#url.origin);
    if (connected === this.#address) return null;
    return {
      go: false,
      reason: `it connected to ${connected ?? 'several addresses'} instead of ${this.#address}`,
    };
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, rawHeaders: IncomingHttpHeaders): void {
    if (status < 200) {
      this.#failIf(this.#pieces.addInterimResponse());
      return;
    }
    clearTimeout(this.#headersTimer);
    const headers = flattenHeaders(rawHeaders);
    const codings = parseContentEncoding(headers['content-encoding']);
    const accepted = this.#options.acceptBody?.(status, headers) ?? true;
    const acceptHead = typeof accepted === 'boolean' ? () => accepted : accepted;
    const head: Head = { status, headers, latencyMs: this.#elapsed(), codings: codings ?? [], acceptHead };
    this.#head = head;
    if (status === 204 || status === 304) {
      // Content-Length then describes a body that is not sent. undici would wait for it, and fail.
      if (hasLength(headers)) this.#respond(head, { body: Buffer.alloc(0), bodyBytes: 0, cut: null });
      return;
    }
    if (headers['content-length'] === '0') return;
    if (accepted === false) {
      this.#respond(head, { body: null, bodyBytes: 0, cut: 'unwanted' });
    } else if (codings === null) {
      const encoding = truncateText(headers['content-encoding'] ?? '', 50);
      const message = `${this.#url.host} sent a body encoded as "${encoding}", which was not asked for.`;
      this.#fail({ errorKind: 'bad-encoding', message });
    } else if (codings.length === 0 && this.#options.tooLarge !== 'truncate') {
      const announced = Number(headers['content-length']);
      if (announced > this.#options.limits.maxBodyBytes) {
        this.#respond(head, { body: null, bodyBytes: 0, cut: 'too-large' });
      }
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const head = this.#head;
    if (head === null || this.#settled || this.#failIf(this.#pieces.addChunk())) return;
    // Created with the first chunk, because a decoder without any input would treat an empty body as damaged.
    this.#body ??= collectBody({
      codings: head.codings,
      acceptHead: head.acceptHead,
      memory: this.#options.memory,
      maxBytes: this.#options.limits.maxBodyBytes,
      onDrain: () => controller.resume(),
      onDone: (collected) => this.#finish(head, collected),
    });
    if (!this.#body.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#body !== null) this.#body.end();
    else if (this.#head !== null)
      this.#respond(this.#head, { body: Buffer.alloc(0), bodyBytes: 0, cut: null });
  }

  /** `_` is undefined if there never was a connection. */
  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#settled) return;
    const malformed = malformedRequest(error, this.#url.host);
    const phase = this.#startedAt === null ? 'connecting' : this.#head === null ? 'waiting' : 'reading';
    if (malformed !== null) this.#settle(Promise.reject(malformed));
    else this.#fail(describeFailure(error, { host: this.#url.host, phase }));
  }

  #finish(head: Head, collected: CollectedBody): void {
    switch (collected.kind) {
      case 'whole':
        this.#respond(head, { body: collected.body, bodyBytes: collected.bytes, cut: null });
        return;
      case 'too-large': {
        const body = this.#options.tooLarge === 'truncate' ? collected.head : null;
        this.#respond(head, { body, bodyBytes: collected.bytes, cut: 'too-large' });
        return;
      }
      case 'unwanted':
        this.#respond(head, { body: collected.head, bodyBytes: collected.bytes, cut: 'unwanted' });
        return;
      case 'failed':
        this.#fail(describeBadBody(collected.error, this.#url.host));
    }
  }

  #respond(
    { status, headers, latencyMs }: Head,
    rest: Pick<ResponseExchange, 'body' | 'bodyBytes' | 'cut'>,
  ): void {
    const startedAt = this.#startedAt;
    if (startedAt === null) return;
    this.#settle({
      kind: 'response',
      startedAt,
      status,
      headers,
      latencyMs,
      durationMs: this.#elapsed(),
      ...rest,
    });
  }

  #timeOut(errorKind: ErrorKind, what: string, limitMs: number): void {
    // The site may have sent all of it.
    if (this.#options.memory.isWaiting()) this.#onNoMemory();
    else this.#fail({ errorKind, message: `${this.#url.host} ${what} within ${limitMs / 1_000} s.` });
  }

  #failIf(failure: Failure | null): boolean {
    if (failure !== null) this.#fail(failure);
    return failure !== null;
  }

  #fail(failure: Failure): void {
    this.#settle({
      kind: 'error',
      ...failure,
      startedAt: this.#startedAt,
      durationMs: this.#elapsed(),
      ...(this.#head === null ? {} : { status: this.#head.status }),
    });
  }

  #settle(exchange: Exchange | Promise<never>): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#headersTimer);
    clearTimeout(this.#totalTimer);
    const { signal, memory } = this.#options;
    signal?.removeEventListener('abort', this.#onAbort);
    memory.signal.removeEventListener('abort', this.#onNoMemory);
    if ('body' in exchange && exchange.body !== null) memory.complete();
    else memory.release();
    this.#endDispatch();
    this.#body?.destroy();
    // Closes the connection after a cut or a refusal. Has no effect once the response has ended.
    this.#controller?.abort(new Error('the request is settled'));
    this.#resolve(exchange);
  }

  #endDispatch(): void {
    if (this.#dispatch !== null) this.#options.agent.pending.remove(this.#url.origin, this.#dispatch);
  }

  #elapsed(): number {
    return Math.round(performance.now() - this.#clockAtStart);
  }
}

function hasLength(headers: ResponseHeaders): boolean {
  const length = headers['content-length'];
  return length !== undefined && length !== '0';
}
