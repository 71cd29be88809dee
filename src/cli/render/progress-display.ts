/** Draws the progress on a stream: redrawn in place on a terminal, one line every few seconds elsewhere. */
import { escapeControls } from '../../core/format.ts';
import type { Progress } from '../../storage/reports/progress.ts';
import { addSample, type ProgressView, paceOf, renderLive, renderPlain, type Sample } from './progress.ts';

export interface Screen {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

export interface Display {
  show(progress: Progress): void;
  /** Writes a line that stays. */
  log(line: string): void;
  /** Removes the live lines; the summary comes next. */
  close(): void;
}

const PLAIN_INTERVAL_SECONDS = 5;

const CLEAR_BELOW = '\x1b[0J';
const BOLD = '\x1b[1m';
const DIM = '\x1b[2m';
const GREEN = '\x1b[32m';
const RESET = '\x1b[0m';

/** The first line is the crawl's name, the second its bar; the rest are details. */
const STYLES = [BOLD, GREEN];

export function createDisplay(screen: Screen, env: Readonly<Record<string, string | undefined>>): Display {
  const live = screen.isTTY === true && env.TERM !== 'dumb';
  const draw = live ? liveDrawing(screen, { colour: !env.NO_COLOR }) : plainDrawing(screen);
  let samples: Sample[] = [];
  return {
    show(progress) {
      samples = addSample(samples, progress);
      draw.show({ progress, pace: paceOf(samples, progress) });
    },
    log(line) {
      draw.close();
      screen.write(`${escapeControls(line)}\n`);
    },
    close: draw.close,
  };
}

interface Drawing {
  show(view: ProgressView): void;
  close(): void;
}

function liveDrawing(screen: Screen, { colour }: { colour: boolean }): Drawing {
  let drawn = 0;
  const back = () => (drawn === 0 ? '' : `\x1b[${drawn}A\r${CLEAR_BELOW}`);
  return {
    show(view) {
      // One column less than the terminal has: some wrap as soon as the last column is written.
      const lines = renderLive(view, (screen.columns ?? 80) - 1);
      const painted = colour ? lines.map((line, index) => `${STYLES[index] ?? DIM}${line}${RESET}`) : lines;
      // In one write: two would flicker.
      screen.write(`${back()}${painted.join('\n')}\n`);
      drawn = lines.length;
    },
    close() {
      screen.write(back());
      drawn = 0;
    },
  };
}

function plainDrawing(screen: Screen): Drawing {
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    show(view) {
      if (view.progress.seconds - lastAt < PLAIN_INTERVAL_SECONDS) return;
      lastAt = view.progress.seconds;
      screen.write(`${escapeControls(renderPlain(view))}\n`);
    },
    close() {},
  };
}
