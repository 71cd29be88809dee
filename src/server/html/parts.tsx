/** Small parts that views are made of. */
import {
  escapeControls,
  formatAgo,
  formatClock,
  formatCount,
  formatDateTime,
  formatDuration,
} from '../../core/format.ts';
import type { Child } from './jsx.ts';

/** A part that open browsers replace when it changes. The id is unique on its page. */
export function Live({ id, children }: { id: string; children?: Child }) {
  return (
    <section id={id} data-live>
      {children}
    </section>
  );
}

/** A text that a site wrote: escaped, cut, without control characters, and unable to change the direction of what follows. */
export function FromWeb({ text, max = 300 }: { text: string; max?: number }) {
  const shown = escapeControls(text);
  if (shown.length <= max) return <bdi class="web">{shown}</bdi>;
  return (
    <bdi class="web" title={shown.slice(0, 2_000)}>
      {shown.slice(0, max)}…
    </bdi>
  );
}

/** A text of a site, one element a line, so that a line cannot change how the next one is shown. */
export function Lines({ text, max }: { text: string; max: number }) {
  return (
    <>
      {text.split(/\r\n?|\n/).map((line) => (
        <>
          <FromWeb text={expandTabs(line)} max={max} />
          {'\n'}
        </>
      ))}
    </>
  );
}

const TAB_WIDTH = 4;

/** With spaces up to the next tab stop: the tab itself counts as a control character. */
export function expandTabs(line: string): string {
  return line.replaceAll(/([^\t]*)\t/g, (_, before: string) =>
    before.padEnd(TAB_WIDTH * (Math.floor(before.length / TAB_WIDTH) + 1)),
  );
}

export function crawlAddress(id: string): string {
  return `/crawls/${encodeURIComponent(id)}`;
}

export function CrawlLink({ id }: { id: string }) {
  return <a href={crawlAddress(id)}>{id}</a>;
}

export function Count({ value }: { value: number }) {
  return <span class="number">{formatCount(value)}</span>;
}

export function Duration({ ms }: { ms: number }) {
  return <span class="number">{formatDuration(ms)}</span>;
}

export function Clock({ at, now }: { at: Date; now: Date }) {
  return <time datetime={at.toISOString()}>{formatClock(at, now)}</time>;
}

/** With its date. */
export function Moment({ at }: { at: Date }) {
  return <time datetime={at.toISOString()}>{formatDateTime(at)}</time>;
}

export function Ago({ at, now }: { at: Date; now: Date }) {
  return (
    <time datetime={at.toISOString()} title={at.toISOString()}>
      {formatAgo(at.getTime(), now)}
    </time>
  );
}

/** `in 12 s`, counted down by the browser. */
export function Countdown({ at, now }: { at: Date; now: Date }) {
  const ms = at.getTime() - now.getTime();
  return (
    <time datetime={at.toISOString()} data-countdown>
      {ms <= 0 ? 'now' : `in ${formatDuration(ms)}`}
    </time>
  );
}

export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'quiet';

/** A word for a state; the colour repeats what the word says. */
export function Badge({ tone, children }: { tone: Tone; children?: Child }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** A share of a whole as a bar. */
export function Share({ part, of, label }: { part: number; of: number; label: string }) {
  const width = of === 0 ? 0 : Math.round((1_000 * part) / of) / 10;
  return (
    <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect class="rest" width="100" height="4" />
      <rect class="part" width={width} height="4" />
    </svg>
  );
}

export interface Column<Row> {
  head: string;
  numeric?: boolean;
  cell(row: Row): Child;
}

/** A table of more columns becomes a list of rows, each with its heads, on a narrow screen; a smaller one scrolls sideways. */
const MAX_NARROW_COLUMNS = 4;

export function Table<Row>({
  caption,
  columns,
  rows,
  rowId,
  empty,
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** For rows that change their places: an open page that is brought up to date moves them with what is typed in them. */
  rowId?(row: Row): string;
  /** Shown instead of a table without rows. */
  empty: string;
}) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <section class="scroll" tabindex={0} aria-label={caption}>
      <table class={columns.length > MAX_NARROW_COLUMNS ? 'wide' : undefined}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, numeric }) => (
              <th scope="col" class={numeric ? 'numeric' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr id={rowId?.(row)}>
              {columns.map(({ cell, numeric, head }) => (
                <td class={numeric ? 'numeric' : undefined} data-head={head}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
