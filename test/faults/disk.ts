/**
 * A disk for the content store that can be full. As root, a small file system is mounted and really filled; if root may not mount
 * one, as in most containers, a file replaces the whole directory. As another user, the directory is made read-only. For the
 * program all three are the same: a write fails.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, rename, rm, rmdir, stat, symlink, writeFile } from 'node:fs/promises';
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

export async function createDisk(path: string): Promise<Disk> {
  await mkdir(path, { recursive: true });
  if (process.getuid?.() !== 0) return closedDirectory(path);
  const mounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MB}m`, 'tmpfs', path]).then(
    () => true,
    () => false,
  );
  return mounted ? fullFileSystem(path) : displacedDirectory(path);
}

/** Through a symbolic link, so that one of the two always exists. */
async function displacedDirectory(path: string): Promise<Disk> {
  const [real, file, link] = [`${path}.real`, `${path}.file`, `${path}.link`];
  const pointTo = async (target: string): Promise<void> => {
    await symlink(target, link);
    await rename(link, path);
  };
  await rmdir(path);
  await mkdir(real);
  await writeFile(file, '');
  await pointTo(real);
  return {
    path,
    means: 'a file in the place of the directory',
    fill: () => pointTo(file),
    clear: () => pointTo(real),
    remove: () => rm(path),
  };
}

function fullFileSystem(path: string): Disk {
  const ballast = join(path, 'ballast');
  return {
    path,
    means: 'a full tmpfs',
    async fill() {
      // Ends with ENOSPC, as intended: the file system is full then.
      await run('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4k']).catch(() => {});
      if ((await stat(ballast)).size === 0) throw new Error(`${path} could not be filled.`);
    },
    clear: () => rm(ballast),
    remove: async () => {
      await run('umount', [path]);
    },
  };
}

/** Existing subdirectories too: a key whose two levels exist could still be written otherwise. */
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
