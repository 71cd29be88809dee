/** Draws the progress on a stream: redrawn in place on a terminal, a line now and then anywhere else. */
import type { Progress } from '../../storage/reports/progress.ts';
import { paceOf, remember, type Sample } from './pace.ts';
import { renderLive, renderPlain, type View } from './progress.ts';

export interface Screen {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

export interface Display {
  show(progress: Progress): void;
  /** A line that stays. */
  say(line: string): void;
  /** Takes the live lines away: what comes next is the summary. */
  close(): void;
}

const PLAIN_EVERY_SECONDS = 5;

const CLEAR_BELOW = '\x1b[0J';
const BOLD = '\x1b[1m';
const DIM = '\x1b[2m';
const GREEN = '\x1b[32m';
const RESET = '\x1b[0m';

/** Of each live line: its name, its bar, then details. */
const STYLES = [BOLD, GREEN];

export function createDisplay(screen: Screen, env: Readonly<Record<string, string | undefined>>): Display {
  const live = screen.isTTY === true && env.TERM !== 'dumb';
  const draw = live ? liveDrawing(screen, { colour: !env.NO_COLOR }) : plainDrawing(screen);
  let samples: Sample[] = [];
  return {
    show(progress) {
      samples = remember(samples, progress);
      draw.show({ progress, pace: paceOf(samples, progress) });
    },
    say(line) {
      draw.close();
      screen.write(`${line}\n`);
    },
    close: draw.close,
  };
}

interface Drawing {
  show(view: View): void;
  close(): void;
}

function liveDrawing(screen: Screen, { colour }: { colour: boolean }): Drawing {
  let drawn = 0;
  const back = () => (drawn === 0 ? '' : `\x1b[${drawn}A\r${CLEAR_BELOW}`);
  return {
    show(view) {
      // One column less than there are: some terminals wrap when the last one is written.
      const lines = renderLive(view, (screen.columns ?? 80) - 1);
      const painted = colour ? lines.map((line, index) => `${STYLES[index] ?? DIM}${line}${RESET}`) : lines;
      // In one write: anything between two would flicker.
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
      if (view.progress.seconds - lastAt < PLAIN_EVERY_SECONDS) return;
      lastAt = view.progress.seconds;
      screen.write(`${renderPlain(view)}\n`);
    },
    close() {},
  };
}
