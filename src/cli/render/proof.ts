/** A proof of politeness as people read it: the tightest gap of each domain, and every fault as a pair or a page. */
import { type DomainProof, type Gap, type Proof, spareMs, type Violation } from '../../verify/index.ts';
import { renderTable } from './table.ts';

const MOST_DOMAINS = 50;
const MOST_FAULTS = 50;

/** `everyDomain`: for programs, and people who page through it; otherwise as many as fit on a few screens. */
export function renderProof(proof: Proof, { everyDomain }: { everyDomain: boolean }): string[] {
  return [
    ...domainTable(proof.domains, everyDomain ? proof.domains.length : MOST_DOMAINS),
    '',
    ...proof.violations.slice(0, MOST_FAULTS).flatMap(faultInWords),
    ...(proof.violationCount > MOST_FAULTS
      ? [`... and ${count(proof.violationCount - MOST_FAULTS)} more; --json lists up to 1,000.`]
      : []),
    ...clockRemark(proof),
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
      tightest === null ? '' : seconds(tightest.wantedMs),
      tightest === null ? '' : at(tightest.after.startedAtMs),
    ]);
  const more = domains.length - most;
  return [
    ...renderTable(['Domain', 'Requests', 'Tightest gap', 'Clock error', 'In force', 'At'], rows),
    ...(more > 0
      ? [
          `... and ${count(more)} domains with more to spare; all are listed with --json, or where the output is not a terminal.`,
        ]
      : []),
  ];
}

function spareOf({ tightest }: DomainProof): number {
  return tightest === null ? Number.POSITIVE_INFINITY : spareMs(tightest);
}

function faultInWords(violation: Violation): string[] {
  switch (violation.kind) {
    case 'gap':
      return [
        `Too close on ${violation.domain}: ${seconds(violation.gapMs)} apart where ${seconds(violation.wantedMs)} was in force.`,
        ...pair(violation),
      ];
    case 'crawl-delay':
      return [
        `Too close for robots.txt of ${violation.domain}: ${seconds(violation.gapMs)} apart where it asks for ${seconds(violation.wantedMs)}.`,
        ...pair(violation),
      ];
    case 'granted': {
      const { request, wantedMs, domain } = violation;
      return [
        `Let go too early: ${request.url} at ${at(request.startedAtMs)} with a gap of ${seconds(request.minGapMs)} in force, where its crawl ${request.crawlId} wants ${seconds(wantedMs)} on ${domain}.`,
      ];
    }
    case 'disallowed': {
      const { request, why } = violation;
      return [
        `Not allowed: ${request.url} at ${at(request.startedAtMs)} (crawl ${request.crawlId}): ${why}.`,
      ];
    }
    case 'attempts':
      return [
        `Tried too often: ${violation.url} (crawl ${violation.crawlId}): ${violation.attempts} attempts where its policy allows ${violation.allowed}.`,
      ];
  }
}

function pair({ before, after }: Gap): string[] {
  return [before, after].map(
    ({ startedAtMs, url, crawlId }) => `  ${at(startedAtMs)}  ${url} (crawl ${crawlId})`,
  );
}

/** No fault: the throttle counts from a moment that is surely not too early, and which is not on record. */
function clockRemark({ withinClockError }: Proof): string[] {
  if (withinClockError === 0) return [];
  const [gaps, are] = withinClockError === 1 ? ['gap holds', 'is'] : ['gaps hold', 'are'];
  return [
    `(${count(withinClockError)} ${gaps} by the recorded times, but ${are} longer than what was in force by less than the clocks' error.)`,
  ];
}

function verdict({ requests, domains, violationCount }: Proof): string {
  const looked = `${count(requests)} requests to ${count(domains.length)} domains`;
  return violationCount === 0
    ? `Polite: ${looked}; no gap too short, no path disallowed, no page tried too often.`
    : `NOT polite: ${count(violationCount)} faults in ${looked}.`;
}

/** To the millisecond: a gap of 9.999 s is a fault where 10 s are in force. */
function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3)} s`;
}

function at(ms: number): string {
  return new Date(ms).toISOString();
}

function count(n: number): string {
  return n.toLocaleString('en');
}
