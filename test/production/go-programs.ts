/** Servers that Go builds from their published source, once for each version, into Amble's cache. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Newest that Go 1.26.8 builds; what docker-compose.yml runs. */
const TEMPORAL = { module: 'go.temporal.io/server', version: 'v1.32.1' };

export interface TemporalPrograms {
  server: string;
  /** Creates and updates the schemas, which it has in it. */
  sql: string;
}

export async function findTemporalPrograms(): Promise<TemporalPrograms> {
  const { module, version } = TEMPORAL;
  const [server, sql] = [
    await install(`${module}/cmd/server`, version),
    await install(`${module}/cmd/tools/sql`, version),
  ];
  return { server, sql };
}

/** An S3 server on a directory. It verifies signatures. */
export function findS3Gateway(): Promise<string> {
  return install('github.com/versity/versitygw/cmd/versitygw', 'v1.8.0');
}

async function install(pkg: string, version: string): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const directory = join(cache, 'amble', `${pkg.replaceAll('/', '-')}-${version}`);
  const program = join(directory, pkg.split('/').at(-1) ?? '');
  if (existsSync(program)) return program;
  await mkdir(directory, { recursive: true });
  process.stderr.write(`Building ${pkg}@${version} with Go (once, takes minutes)\n`);
  await promisify(execFile)('go', ['install', `${pkg}@${version}`], {
    env: { ...process.env, GOBIN: directory },
    maxBuffer: 64 * 1024 * 1024,
  });
  return program;
}
