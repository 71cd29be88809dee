import { describe, expect, it } from 'vitest';
import { renderProof } from '../../src/cli/render/proof.ts';
import type { DomainProof, Proof } from '../../src/verify/index.ts';
import { aRequest } from './support.ts';

/** 60 domains; the tightest gap of each is a millisecond longer than the previous one. */
const domains = Array.from({ length: 60 }, (_, n): DomainProof => {
  const domain = `d${n}.test`;
  const gapMs = 1_000 + n;
  const [before, after] = [aRequest(domain, 0), aRequest(domain, gapMs)];
  return { domain, requests: 2, tightest: { before, after, gapMs, clockErrorMs: 0, requiredMs: 1_000 } };
});

const proof: Proof = {
  requests: 120,
  withinClockError: 0,
  rulesDropped: 0,
  rulesTooSlow: 0,
  domains,
  addresses: 3,
  exemptRequests: 0,
  violations: [],
  violationCount: 0,
};

const listed = (lines: readonly string[]) => lines.filter((line) => /^d\d+\.test /.test(line));

describe('the tightest gap of a domain', () => {
  it('is shown only for the tightest domains at a terminal, with a hint on how to list all', () => {
    const lines = renderProof(proof, { everyDomain: false });
    expect(listed(lines)).toHaveLength(50);
    expect(listed(lines)[0]).toMatch(/^d0\.test +2 +1\.000 s /);
    expect(lines).toContain(
      '... and 10 domains with wider margins; write to a file or use --json to list all.',
    );
  });

  it('is shown for every domain if the output is not a terminal', () => {
    const lines = renderProof(proof, { everyDomain: true });
    expect(listed(lines)).toHaveLength(60);
    expect(lines.join('\n')).not.toContain('wider margins');
  });
});
