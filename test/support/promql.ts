/** The expressions of the Grafana board and of the alert rules. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { z } from 'zod';
import { packageRoot } from '../../src/core/package-root.ts';

export interface Expression {
  /** The title of its panel, or the name of its alert. */
  of: string;
  promql: string;
}

const Board = z.object({
  panels: z.array(
    z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) }),
  ),
});
const Rules = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});

export function boardExpressions(): Expression[] {
  const board = Board.parse(JSON.parse(read('grafana', 'dashboards', 'amble.json')));
  return board.panels.flatMap(({ title, targets }) =>
    // A duration that Grafana fills in.
    targets.map(({ expr }) => ({ of: title, promql: expr.replaceAll('$__rate_interval', '5m') })),
  );
}

export function alertExpressions(): Expression[] {
  const { groups } = Rules.parse(parse(read('prometheus', 'alerts.yml')));
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ of: alert, promql: expr })));
}

/** Whether it can be parsed. */
export function isPromql(promql: string): boolean {
  let isValid = true;
  parser.parse(promql).iterate({
    enter: (node) => {
      if (node.type.isError) isValid = false;
    },
  });
  return isValid;
}

/** The metrics that it selects, without the suffixes of the parts of a histogram. */
export function metricsOf(promql: string): string[] {
  const names: string[] = [];
  parser.parse(promql).iterate({
    enter: (node) => {
      if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector')
        names.push(promql.slice(node.from, node.to).replace(/_(bucket|count|sum)$/, ''));
    },
  });
  return names;
}

type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

export interface LabelValue {
  metric: string;
  label: string;
  value: string;
}

/** The values that its selectors compare labels with, each alternative of a regular expression for itself. */
export function labelValuesOf(promql: string): LabelValue[] {
  const values: LabelValue[] = [];
  parser.parse(promql).iterate({
    enter: ({ name, node }) => {
      if (name !== 'UnquotedLabelMatcher') return;
      const text = (part: SyntaxNode | null | undefined) => (part ? promql.slice(part.from, part.to) : '');
      const metric = text(node.parent?.parent?.getChild('Identifier'));
      const label = text(node.getChild('LabelName'));
      const alternatives = text(node.getChild('StringLiteral')).slice(1, -1).split('|');
      values.push(...alternatives.map((value) => ({ metric, label, value })));
    },
  });
  return values;
}

/** The labels that it groups by. */
export function groupingLabelsOf(promql: string): string[] {
  const labels: string[] = [];
  parser.parse(promql).iterate({
    enter: ({ name, node, from, to }) => {
      if (name === 'LabelName' && node.parent?.name === 'GroupingLabels') labels.push(promql.slice(from, to));
    },
  });
  return labels;
}

function read(...path: string[]): string {
  return readFileSync(join(packageRoot, 'deploy', ...path), 'utf8');
}
