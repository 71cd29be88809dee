/** sendRequest with generous defaults, which each test narrows down. */
import type { Agent } from 'undici';
import { expect, onTestFinished, vi } from 'vitest';
import type { AgentOptions } from '../../../src/http/agent.ts';
import {
  BodyMemory,
  createAgent,
  createNetworkPolicy,
  type Exchange,
  type FailedExchange,
  type RequestOptions,
  type ResponseExchange,
  sendRequest,
} from '../../../src/http/index.ts';

export const STARTED_AT = 1_234_567;

export const LIMITS = { headersTimeoutMs: 10_000, totalTimeoutMs: 10_000, maxBodyBytes: 1_000_000 };

export function loopbackAgent(options: Partial<AgentOptions> & { resolve?: Record<string, string> } = {}) {
  const { resolve = {}, ...rest } = options;
  const policy = createNetworkPolicy({ allowNetwork: ['127.0.0.0/8'], resolve });
  const agent = createAgent({ policy, connectTimeoutMs: 5_000, ...rest });
  onTestFinished(() => agent.destroy());
  return agent;
}

export function send(url: string, options: Partial<RequestOptions> = {}): Promise<Exchange> {
  return sendRequest({
    url,
    headers: {},
    limits: LIMITS,
    agent: options.agent ?? loopbackAgent(),
    mayStart: () => ({ go: true, startedAt: STARTED_AT }),
    memory: new BodyMemory(Number.POSITIVE_INFINITY).open('site.test'),
    ...options,
  });
}

export async function sendForResponse(
  url: string,
  options: Partial<RequestOptions> = {},
): Promise<ResponseExchange> {
  const exchange = await send(url, options);
  if (exchange.kind !== 'response') throw new Error(`Expected a response, got ${JSON.stringify(exchange)}.`);
  return exchange;
}

export async function sendForError(
  url: string,
  options: Partial<RequestOptions> = {},
): Promise<FailedExchange> {
  const exchange = await send(url, options);
  if (exchange.kind !== 'error') throw new Error(`Expected an error, got ${JSON.stringify(exchange)}.`);
  return exchange;
}

/** undici reuses a connection only in the turn of the event loop after the response. */
export async function untilFree(agent: Agent): Promise<void> {
  await vi.waitFor(() => {
    expect(Object.values(agent.stats)).toMatchObject([{ connected: 1, running: 0, free: 1 }]);
  });
}
