/** How busy this machine is, all processes together. */
import { cpus } from 'node:os';

const SAMPLE_INTERVAL_MS = 250;

interface Sample {
  at: number;
  busy: number;
  all: number;
}

export class MachineLoad {
  private readonly samples: Sample[] = [sample()];
  private readonly timer = setInterval(() => this.samples.push(sample()), SAMPLE_INTERVAL_MS);

  stop(): void {
    clearInterval(this.timer);
  }

  /** Between 0 and 1. Times as in `performance.timeOrigin + performance.now()`. */
  between(from: number, to: number): number {
    const within = this.samples.filter(({ at }) => at >= from && at <= to);
    const first = within.at(0);
    const last = within.at(-1);
    return first && last ? (last.busy - first.busy) / (last.all - first.all) : Number.NaN;
  }
}

function sample(): Sample {
  const times = cpus().map((cpu) => cpu.times);
  const all = times.reduce((sum, time) => sum + Object.values(time).reduce((a, b) => a + b, 0), 0);
  const idle = times.reduce((sum, time) => sum + time.idle, 0);
  return { at: performance.timeOrigin + performance.now(), busy: all - idle, all };
}
