/** A proof of politeness as people read it: the tightest gap of each domain, and every violation. */
import {
  type DomainProof,
  type Proof,
  type RecordedRequest,
  type SentRequest,
  spareMs,
  type Violation,
} from '../../verify/index.ts';
import { formatCount, formatPlural, renderTable } from './text.ts';

const MAX_DOMAINS = 50;
const MAX_VIOLATIONS = 50;

/** `everyDomain`: for files and pipes; a terminal gets only a few screens. */
export function renderProof(proof: Proof, { everyDomain }: { everyDomain: boolean }): string[] {
  return [
    ...domainTable(proof.domains, everyDomain ? proof.domains.length : MAX_DOMAINS),
    '',
    ...proof.violations.slice(0, MAX_VIOLATIONS).flatMap(describeViolation),
    ...(proof.violationCount > MAX_VIOLATIONS
      ? [`... and ${formatCount(proof.violationCount - MAX_VIOLATIONS)} more; --json lists up to 1,000.`]
      : []),
    ...clockErrorNote(proof),
    ...exemptNote(proof),
    verdict(proof),
  ];
}

function domainTable(domains: readonly DomainProof[], most: number): string[] {
  const tightestFirst = domains.toSorted((one, other) => spareOf(one) - spareOf(other));
  const rows = tightestFirst
    .slice(0, most)
    .map(({ domain, requests, tightest }) => [
      domain,
      requests,
      tightest === null ? '' : seconds(tightest.gapMs),
      tightest === null ? '' : seconds(tightest.clockErrorMs),
      tightest === null ? '' : seconds(tightest.requiredMs),
      tightest === null ? '' : at(tightest.after.startedAtMs),
    ]);
  const more = domains.length - most;
  return [
    ...renderTable(['Domain', 'Requests', 'Tightest gap', 'Clock error', 'Required', 'At'], rows),
    ...(more > 0
      ? [
          `... and ${formatPlural(more, 'domain')} with wider margins; write to a file or use --json to list all.`,
        ]
      : []),
  ];
}

function spareOf({ tightest }: DomainProof): number {
  return tightest === null ? Number.POSITIVE_INFINITY : spareMs(tightest);
}

function describeViolation(violation: Violation): string[] {
  switch (violation.kind) {
    case 'gap':
      return [
        `Gap too short on ${violation.domain}: ${seconds(violation.gapMs)}, but ${seconds(violation.requiredMs)} was required.`,
        ...pair(violation),
      ];
    case 'crawl-delay':
      return [
        `Gap too short on ${violation.domain}: ${seconds(violation.gapMs)}, but its robots.txt asks for ${seconds(violation.requiredMs)}.`,
        ...pair(violation),
      ];
    case 'address-gap': {
      const { before, after, requiredMs } = violation;
      return [
        `Gap too short at ${after.address}: ${seconds(after.sentAtMs - before.sentAtMs)}, but ${seconds(requiredMs)} is required between two requests to one address.`,
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
        `Granted with too short a gap: ${request.url} at ${at(request.startedAtMs)} with ${seconds(request.minGapMs)}, but crawl ${request.crawlId} requires ${seconds(requiredMs)} on ${domain}.`,
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

/** Not violations: the throttle measures from a safe upper bound of the start, which is not recorded. */
function clockErrorNote({ withinClockError }: Proof): string[] {
  if (withinClockError === 0) return [];
  const [exceed, are] = withinClockError === 1 ? ['exceeds its', 'is'] : ['exceed their', 'are'];
  return [
    `Note: ${formatPlural(withinClockError, 'gap')} ${exceed} required length by less than the clock error, and ${are} counted as kept.`,
  ];
}

/** Whose limits were not checked, so that the verdict claims nothing about them. */
function exemptNote({ exemptRequests }: Proof): string[] {
  if (exemptRequests === 0) return [];
  return [
    `Note: ${formatPlural(exemptRequests, 'request')} went to addresses that are exempt from the limits per address.`,
  ];
}

function verdict({ requests, domains, addresses, violationCount }: Proof): string {
  const scope = `${formatPlural(requests, 'request')} to ${formatPlural(domains.length, 'domain')}`;
  const atAddresses = addresses === 0 ? '' : ` at ${formatPlural(addresses, 'address', 'addresses')}`;
  return violationCount === 0
    ? `Polite: ${scope}${atAddresses}; no gap too short, no disallowed path, no page tried too often.`
    : `NOT polite: ${formatPlural(violationCount, 'violation')} in ${scope}.`;
}

/** To the millisecond: a gap of 9.999 s is a violation if 10 s are required. */
function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3)} s`;
}

function at(ms: number): string {
  return new Date(ms).toISOString();
}
