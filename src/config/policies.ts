/** Settings with a shape of their own: rules per domain and URL types. `none` stands for an empty table. */
import { z } from 'zod';
import type { DomainRule, UrlType } from '../core/settings.ts';
import { hostnameOf, normaliseUrl, type PolitenessUnit, siteOf } from '../urls/index.ts';
import { count, countOrNone, delayRange, label, NONE, value } from './values.ts';

/** Every link found is compared with every pattern. */
const MAX_TYPES = 100;
const MAX_PATTERN_LENGTH = 500;

const domainRule = z.strictObject({
  delay: delayRange().optional(),
  concurrency: count(1).optional(),
  targetConcurrency: countOrNone(1).optional(),
});

export const domainRules = () =>
  z.preprocess(noneAs({}), z.record(z.string(), domainRule)).transform((rules, context) => {
    const named: Record<string, DomainRule> = {};
    for (const [name, rule] of Object.entries(rules)) {
      const domain = readDomain(name);
      if (domain === undefined)
        context.addIssue({
          code: 'custom',
          message: 'a rule for a domain such as "example.org"',
          path: [name],
        });
      else named[domain] = withoutUndefined(rule);
    }
    return named;
  });

const urlType = z
  .strictObject({
    name: label('a name'),
    pattern: value(
      `a pattern such as "/search*" or "https://shop.example/p/*", at most ${MAX_PATTERN_LENGTH} characters`,
      readPattern,
    ),
    priority: count(1),
    keyword: label('a keyword').optional(),
  })
  .transform(({ keyword, ...type }): UrlType => ({ ...type, keyword: keyword ?? null }));

export const urlTypes = () =>
  z.preprocess(noneAs([]), z.array(urlType).max(MAX_TYPES, `at most ${MAX_TYPES} types`));

function noneAs<T>(empty: T): (raw: unknown) => unknown {
  return (raw) => (raw === null || raw === NONE ? empty : raw);
}

/** As it stands in URLs: lower case, Punycode, without a dot at the end. */
function readDomain(name: string): string | undefined {
  if (!/^[^\s/:?#@\\]+$|^\[[\da-f:.]+\]$/i.test(name)) return undefined;
  const url = normaliseUrl(`http://${name}/`);
  return url.ok ? hostnameOf(url.url) : undefined;
}

function readPattern(raw: unknown): string | undefined {
  return typeof raw === 'string' && /^\S+$/.test(raw) && raw.length <= MAX_PATTERN_LENGTH ? raw : undefined;
}

/** zod leaves `undefined` in place of optional keys, which would hide the crawl's own value. */
function withoutUndefined({
  delay,
  concurrency,
  targetConcurrency,
}: z.output<typeof domainRule>): DomainRule {
  return {
    ...(delay && { delay }),
    ...(concurrency !== undefined && { concurrency }),
    ...(targetConcurrency !== undefined && { targetConcurrency }),
  };
}

/** Why a rule can never apply when gaps are kept per this unit, as a sentence. null: every rule can apply. */
export function whyRulesUnusable(rules: Record<string, DomainRule>, unit: PolitenessUnit): string | null {
  if (unit === 'host') return null;
  const below = Object.keys(rules).find((domain) => siteOf(domain) !== domain);
  if (below === undefined) return null;
  return `The rule for ${below} cannot apply, because this installation keeps one gap for all of ${siteOf(below)}; make it a rule for ${siteOf(below)}.`;
}
