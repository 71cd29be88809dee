/** A violation in words, for the command line and the dashboard. */
import { formatSeconds } from '../core/format.ts';
import type { RecordedRequest, SentRequest, Violation } from './types.ts';

/** What was wrong, and the requests that it was about. */
export function describeViolation(violation: Violation): string[] {
  switch (violation.kind) {
    case 'gap':
      return [
        `Gap too short on ${violation.domain}: ${formatSeconds(violation.gapMs)}, but ${formatSeconds(violation.requiredMs)} was required.`,
        ...pair(violation),
      ];
    case 'crawl-delay':
      return [
        `Gap too short on ${violation.domain}: ${formatSeconds(violation.gapMs)}, but its robots.txt asks for ${formatSeconds(violation.requiredMs)}.`,
        ...pair(violation),
      ];
    case 'address-gap': {
      const { before, after, requiredMs } = violation;
      return [
        `Gap too short at ${after.address}: ${formatSeconds(after.sentAtMs - before.sentAtMs)}, but ${formatSeconds(requiredMs)} is required between two requests to one address.`,
        ...[before, after].map((request) => line(request.sentAtMs, request)),
      ];
    }
    case 'address-open': {
      const { request, open } = violation;
      return [
        `Too many open requests at ${request.address}: ${open} of at most ${request.limit?.maxOpen} when ${request.url} was sent at ${at(request.sentAtMs)} (crawl ${request.crawlId}).`,
      ];
    }
    case 'granted': {
      const { request, requiredMs, domain } = violation;
      return [
        `Granted with too short a gap: ${request.url} at ${at(request.startedAtMs)} with ${formatSeconds(request.minGapMs)}, but crawl ${request.crawlId} requires ${formatSeconds(requiredMs)} on ${domain}.`,
      ];
    }
    case 'disallowed': {
      const { request, why } = violation;
      return [`Disallowed: ${request.url} at ${at(request.startedAtMs)} (crawl ${request.crawlId}): ${why}.`];
    }
    case 'attempts':
      return [
        `Too many attempts: ${violation.url} (crawl ${violation.crawlId}) was tried ${violation.attempts} times, but its retry policy allows ${violation.allowed}.`,
      ];
  }
}

function pair({ before, after }: { before: RecordedRequest; after: RecordedRequest }): string[] {
  return [before, after].map((request) => line(request.startedAtMs, request));
}

function line(atMs: number, { url, crawlId }: RecordedRequest | SentRequest): string {
  return `  ${at(atMs)}  ${url} (crawl ${crawlId})`;
}

/** By how much it missed what was required. The worst are those that no gap could have made right. */
export function severityMs(violation: Violation): number {
  switch (violation.kind) {
    case 'gap':
    case 'crawl-delay':
      return violation.requiredMs - violation.gapMs;
    case 'granted':
      return violation.requiredMs - violation.request.minGapMs;
    default:
      return Number.POSITIVE_INFINITY;
  }
}

function at(ms: number): string {
  return new Date(ms).toISOString();
}
