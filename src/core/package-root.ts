/** Where this package lies, and which one it is: two steps away from the sources, three from the compiled files. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const packageRoot: string = nearestPackage(dirname(fileURLToPath(import.meta.url)));

export const packageVersion: string = versionOf(packageRoot);

function versionOf(directory: string): string {
  const { version }: { version: string } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  return version;
}

function nearestPackage(directory: string): string {
  if (existsSync(join(directory, 'package.json'))) return directory;
  const parent = dirname(directory);
  if (parent === directory) {
    throw new Error('Amble cannot find its own package.json above its program files: install it again.');
  }
  return nearestPackage(parent);
}
