/** The Grafana board and the alert rules. test/crawl/metrics.test.ts compares their metrics with a real scrape. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/core/package-root.ts';
import { alertExpressions, boardExpressions, isPromql, metricsOf } from '../support/promql.ts';

const all = [...boardExpressions(), ...alertExpressions()];

test('every expression of the board and of the alert rules can be parsed, and selects a metric', () => {
  expect(all.length).toBeGreaterThan(30);
  expect(all.filter(({ promql }) => !isPromql(promql) || metricsOf(promql).length === 0)).toEqual([]);
});

test('an expression with an error is noticed', () => {
  expect(isPromql('sum by (status) (rate(amble_pages_total[5m]))')).toBe(true);
  expect(isPromql('sum by (status (rate(amble_pages_total[5m]))')).toBe(false);
  expect(metricsOf('sum(a_bucket) / on() (b{c="d"} or vector(0))')).toEqual(['a', 'b']);
});

test('docs/metrics.md says what to do about every alert', () => {
  const documentation = readFileSync(join(packageRoot, 'docs', 'metrics.md'), 'utf8');
  const alerts = alertExpressions().map(({ of }) => of);
  expect(alerts.filter((alert) => !documentation.includes(`| \`${alert}\` |`))).toEqual([]);
});
