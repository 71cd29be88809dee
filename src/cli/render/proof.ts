/** A proof of politeness as people read it: the tightest gap of each domain, and every violation. */
import { formatSeconds } from '../../core/format.ts';
import { type DomainProof, describeViolation, type Proof, spareMs } from '../../verify/index.ts';
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
    ...notJudgedNote(proof),
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
      tightest === null ? '' : formatSeconds(tightest.gapMs),
      tightest === null ? '' : formatSeconds(tightest.clockErrorMs),
      tightest === null ? '' : formatSeconds(tightest.requiredMs),
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

/** Neither polite nor a violation: nothing is left to judge them by. */
function notJudgedNote({ rulesDropped }: Proof): string[] {
  if (rulesDropped === 0) return [];
  return [
    `Note: ${formatPlural(rulesDropped, 'request')} could not be judged by robots.txt: the site changed it so often that these rules are no longer kept.`,
  ];
}

function verdict({ requests, domains, addresses, violationCount }: Proof): string {
  const scope = `${formatPlural(requests, 'request')} to ${formatPlural(domains.length, 'domain')}`;
  const atAddresses = addresses === 0 ? '' : ` at ${formatPlural(addresses, 'address', 'addresses')}`;
  return violationCount === 0
    ? `Polite: ${scope}${atAddresses}; no gap too short, no disallowed path, no page tried too often.`
    : `NOT polite: ${formatPlural(violationCount, 'violation')} in ${scope}.`;
}

function at(ms: number): string {
  return new Date(ms).toISOString();
}
