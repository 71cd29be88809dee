/** Programs on PATH. */
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

export async function findOnPath(program: string): Promise<string | null> {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    if (directory === '') continue;
    const file = join(directory, program);
    if (await isExecutable(file)) return file;
  }
  return null;
}

export async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
