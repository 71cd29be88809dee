/**
 * A disk for the content store that can be full. Root gets a small file system of its own and really fills it. Anybody else
 * has the directory closed to writing, which asks the same of the program: an error where it wanted to write.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Disk {
  path: string;
  /** How it is filled, for the report. */
  means: string;
  fill(): Promise<void>;
  clear(): Promise<void>;
  remove(): Promise<void>;
}

const SIZE_MB = 64;

export async function makeDisk(path: string): Promise<Disk> {
  await mkdir(path, { recursive: true });
  if (process.getuid?.() !== 0) return closedDirectory(path);
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MB}m`, 'tmpfs', path]);
  } catch (cause) {
    throw new Error(
      `The disk of the content store cannot be made to fill up: root may not mount a tmpfs at ${path}. Run this as another user.`,
      { cause },
    );
  }
  return fullFileSystem(path);
}

function fullFileSystem(path: string): Disk {
  const ballast = join(path, 'ballast');
  return {
    path,
    means: 'a full tmpfs',
    async fill() {
      // Ends with ENOSPC, which is the point: the file system holds exactly what it can.
      await run('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4k']).catch(() => {});
      if ((await stat(ballast)).size === 0) throw new Error(`${path} could not be filled.`);
    },
    clear: () => rm(ballast),
    remove: async () => {
      await run('umount', [path]);
    },
  };
}

/** Directories that are there already are closed too: a key whose two levels exist would still find its place. */
function closedDirectory(path: string): Disk {
  const all = async (mode: number): Promise<void> => {
    for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
      if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), mode);
    }
    await chmod(path, mode);
  };
  return {
    path,
    means: 'directories closed to writing',
    async fill() {
      await all(0o555);
      const written = await writeFile(join(path, 'probe'), '').then(
        () => true,
        () => false,
      );
      if (written) throw new Error(`${path} can still be written to.`);
    },
    clear: () => all(0o755),
    remove: () => all(0o755),
  };
}
