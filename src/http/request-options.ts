/** What a caller of sendRequest decides: where to, under which limits, and who may stop it. */
import type { Dispatcher } from 'undici';
import type { FetchLimits } from '../core/settings.ts';
import type { HttpAgent } from './agent.ts';
import type { FetchMemory } from './body-memory.ts';
import type { ResponseHeaders } from './exchange.ts';
import type { LookupRequest } from './origin-addresses.ts';

/** `startedAt` is on the clock of whoever decides. */
export type StartVerdict = { go: true; startedAt: number } | { go: false; reason: string };

/** Whether a request may go to an address, now. */
export type AdmissionVerdict = { go: true } | { go: false; reason: string };

export interface RequestOptions extends LookupRequest {
  /** A normalised URL. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** The limits for connecting and for headers belong to the agent. */
  limits: Pick<FetchLimits, 'headersTimeoutMs' | 'totalTimeoutMs' | 'maxBodyBytes'>;
  /** See createAgent. It enforces the network policy. */
  agent: Dispatcher & Pick<HttpAgent, 'pending' | 'addresses'>;
  /**
   * Called once with the address that the request will go to, before anything is sent there: neither a connection nor the
   * request. It may take its time, and has to reject when `signal` aborts. Default: any address at once.
   */
  admit?: (address: string) => Promise<AdmissionVerdict>;
  /** Called once, synchronously, right before the write. */
  mayStart: () => StartVerdict;
  /** Holds the body. The caller releases it once the body is stored or dropped. */
  memory: FetchMemory;
  /**
   * Decides by the headers whether to read the body. Default: every body is read. If the headers are not enough, it returns a
   * function that decides by the first bytes.
   */
  acceptBody?: (status: number, headers: ResponseHeaders) => boolean | AcceptHead;
  /** What to do with a body that exceeds its limit. Default: drop. */
  tooLarge?: 'drop' | 'truncate';
}

export type AcceptHead = (head: Buffer) => boolean;
