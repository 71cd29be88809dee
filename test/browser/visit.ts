/** A visit to the dashboard that notices what must never happen: errors in the console, and requests to other machines. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { z } from 'zod';

export const DESKTOP: BrowserContextOptions = {
  viewport: { width: 1280, height: 800 },
  colorScheme: 'light',
};
export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  colorScheme: 'dark',
  hasTouch: true,
  isMobile: true,
};

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const AxeResults = z.object({
  violations: z.array(
    z.object({
      id: z.string(),
      impact: z.string().nullable(),
      nodes: z.array(z.object({ html: z.string() })),
    }),
  ),
});

export async function visit<T>(
  browser: Browser,
  base: string,
  path: string,
  options: BrowserContextOptions,
  act: (page: Page) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext({ ...options, baseURL: base });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    // The browser reports a page that is meant to be missing as an error.
    const isMissing = message.text().includes('404') && message.location().url === page.url();
    if ((message.type() === 'error' || message.type() === 'warning') && !isMissing)
      faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(base).origin) faults.push(`request to ${request.url()}`);
  });
  try {
    await page.goto(path);
    const result = await act(page);
    expect(faults).toEqual([]);
    return result;
  } finally {
    await context.close();
  }
}

/** Violations that keep people from using the page. */
export async function seriousViolations(page: Page): Promise<string[]> {
  // By the debugger, which the page's Content-Security-Policy does not bind.
  await page.evaluate(AXE);
  const { violations } = AxeResults.parse(await page.evaluate('axe.run()'));
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .map(({ html }) => html)
          .slice(0, 3)
          .join(' ')}`,
    );
}

/** By how many pixels the page is wider than the screen. */
export function overflow(page: Page): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
