/** The table at the end of a soak: how often each fault was injected, and what was lost. */
import type { Run } from './run.ts';

export function renderReport(runs: readonly Run[]): string[] {
  const injected = runs.flatMap((run) => run.injected);
  const repeats = runs.flatMap((run) => run.repeats);
  const rows = [...new Set(injected.map(({ fault }) => fault))].map((fault) => {
    const times = injected.filter((one) => one.fault === fault);
    const its = runs.filter((run) => run.injected.some((one) => one.fault === fault));
    return [
      fault,
      times.length,
      times.reduce((sum, { exposed }) => sum + exposed.length, 0),
      repeats.filter((repeat) => repeat.fault === fault).length,
      its.reduce((sum, run) => sum + run.lost, 0),
      its.reduce((sum, run) => sum + run.violations.length, 0),
    ];
  });
  const violations = runs.reduce((sum, run) => sum + run.violations.length, 0);
  const pages = runs.reduce((sum, run) => sum + run.pages, 0);
  return [
    '| fault | injected | fetches in flight | of these fetched again | pages lost in its runs | violations |',
    '|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
    `${runs.length} runs, ${pages} pages, ${injected.length} faults: ${violations} violations.`,
  ];
}
