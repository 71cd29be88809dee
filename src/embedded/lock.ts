/**
 * A lock that the kernel releases when its holder ends, even by kill -9: nothing is left behind that the next process would
 * have to recognise as stale and break, which is where lock files go wrong when two processes do it at once. Node has no
 * flock(2), but each system offers something equivalent without a native module:
 * - Linux: a Unix socket in the abstract namespace. Binding a name that is bound fails, and there is no file to clean up.
 *   The namespace belongs to the network namespace, as do the loopback ports of the engines that the lock protects.
 * - macOS and BSD: open(2) with O_EXLOCK, which takes flock's exclusive lock.
 * Neither is inherited by programs that the holder starts. The file is never deleted, so that everyone locks the same one.
 */
import { constants, type FileHandle, open, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../core/errors.ts';

const POLL_INTERVAL_MS = 25;

/** As <fcntl.h> of macOS and BSD has it. libuv passes it on (UV_FS_O_EXLOCK); fs.constants does not name it. */
const O_EXLOCK = 0x20;

type Release = () => Promise<void>;

/** Does the work while no other process holds the lock on this file. `onWait` gets the holder's pid, at most once. */
export async function withLock<T>(
  file: string,
  onWait: (holder: number) => void,
  work: () => Promise<T>,
): Promise<T> {
  const release = await acquire(file, onWait);
  try {
    // For `onWait` alone: the lock does not depend on what the file says.
    await writeFile(file, String(process.pid));
    return await work();
  } finally {
    await release();
  }
}

async function acquire(file: string, onWait: (holder: number) => void): Promise<Release> {
  await (await open(file, 'a', 0o600)).close();
  let notified = false;
  for (;;) {
    const release = process.platform === 'linux' ? await bindSocket(file) : await openExclusively(file);
    if (release !== null) return release;
    const holder = Number(await readFile(file, 'utf8'));
    if (!notified && holder > 0 && holder !== process.pid) {
      notified = true;
      onWait(holder);
    }
    await sleep(POLL_INTERVAL_MS);
  }
}

/** null: another process holds the lock. */
async function bindSocket(file: string): Promise<Release | null> {
  // By device and inode, because one file may be reached by several paths.
  const { dev, ino } = await stat(file, { bigint: true });
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      if (codeOf(error) === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    server.listen(`\0amble-lock-${dev}-${ino}`, () =>
      resolve(() => new Promise((done) => server.close(() => done()))),
    );
  });
}

async function openExclusively(file: string): Promise<Release | null> {
  let handle: FileHandle;
  try {
    handle = await open(file, constants.O_RDWR | constants.O_NONBLOCK | O_EXLOCK);
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return null;
    throw error;
  }
  return () => handle.close();
}
