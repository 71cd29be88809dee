/** A control group of Linux: the processor time of all processes that were ever in it. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { processTime } from './process-time.ts';

/** Version 2, alone or beside version 1. */
const MOUNTS = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'];

/** In ms: of all processes, and of those that still run with the children that they had. */
export interface CpuTimes {
  all: number;
  worker: number;
  temporal: number;
  postgres: number;
}

export class ControlGroup {
  private constructor(private readonly path: string) {}

  static async create(name: string): Promise<ControlGroup> {
    const mount = MOUNTS.find((path) => existsSync(join(path, 'cgroup.controllers')));
    if (mount === undefined) throw new Error('There is no cgroup2 file system on this machine.');
    const path = join(mount, name);
    await mkdir(path);
    return new ControlGroup(path);
  }

  /** A command line that runs this one in the group. Everything that it starts is in the group too. */
  command(argv: readonly string[]): string[] {
    return ['sh', '-c', 'echo $$ > "$0" && exec "$@"', join(this.path, 'cgroup.procs'), ...argv];
  }

  async cpuTimes(): Promise<CpuTimes> {
    const stat = await readFile(join(this.path, 'cpu.stat'), 'utf8');
    const times = {
      all: Number(/^usage_usec (\d+)$/m.exec(stat)?.[1]) / 1_000,
      worker: 0,
      temporal: 0,
      postgres: 0,
    };
    const pids = (await readFile(join(this.path, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean);
    for (const pid of pids) {
      const { name, ms, endedMs } = await processTime(pid);
      // Postgres has a process for each connection, and closes those that are idle.
      times[name === 'temporal' || name === 'postgres' ? name : 'worker'] += ms + endedMs;
    }
    return times;
  }

  async remove(): Promise<void> {
    await rmdir(this.path);
  }
}
