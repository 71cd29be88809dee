/** A real browser, from npm: it brings its libraries and fonts along, so that a fresh machine needs nothing else. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

export interface RunningBrowser {
  browser: Browser;
  stop(): Promise<void>;
}

export async function startBrowser(): Promise<RunningBrowser> {
  // The package has Linux on x64 only. Elsewhere the Chrome of the machine serves.
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    const browser = await chromium.launch({ channel: 'chrome' });
    return { browser, stop: () => browser.close() };
  }
  const directory = await mkdtemp(join(tmpdir(), 'amble-chromium-'));
  try {
    const executablePath = await unpack(directory);
    const env = {
      ...process.env,
      LD_LIBRARY_PATH: join(directory, 'al2023', 'lib'),
      FONTCONFIG_FILE: await configureFonts(directory),
    };
    // Tests may run as root, under which Chromium's sandbox does not start. It sees pages of ours only.
    const browser = await chromium.launch({ executablePath, env, args: ['--no-sandbox'] });
    return {
      browser,
      async stop() {
        await browser.close();
        await rm(directory, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

/** It unpacks into the temporary directory of the process, and its libraries only where it believes to be at home. */
async function unpack(directory: string): Promise<string> {
  const { TMPDIR, AWS_EXECUTION_ENV } = process.env;
  Object.assign(process.env, { TMPDIR: directory, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' });
  try {
    const { default: packed } = await import('@sparticuz/chromium');
    return await packed.executablePath();
  } finally {
    restore('TMPDIR', TMPDIR);
    restore('AWS_EXECUTION_ENV', AWS_EXECUTION_ENV);
  }
}

/** The package's own configuration looks for its fonts in /tmp/fonts, and Chromium ends where it finds none. */
async function configureFonts(directory: string): Promise<string> {
  const file = join(directory, 'fonts.conf');
  const places = `<dir>${join(directory, 'fonts')}</dir><cachedir>${join(directory, 'fonts-cache')}</cachedir>`;
  await writeFile(file, `<?xml version="1.0"?><fontconfig>${places}</fontconfig>`);
  return file;
}

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
