/** The style sheet, the script and the icon: read once, served from memory, nothing from elsewhere. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { packageRoot } from '../core/package-root.ts';
import type { Env } from './env.ts';

const TYPES = {
  'dashboard.css': 'text/css; charset=utf-8',
  'dashboard.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

export function serveAssets(app: Hono<Env>): void {
  for (const [name, type] of Object.entries(TYPES)) {
    // The same files in a checkout and in the package: nothing builds them.
    const body = readFileSync(join(packageRoot, 'src', 'server', 'assets', name), 'utf8');
    const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`;
    app.get(`/assets/${name}`, (c) => {
      const headers = { 'Content-Type': type, ETag: tag, 'Cache-Control': 'no-cache' };
      return c.req.header('If-None-Match') === tag ? c.body(null, 304, headers) : c.body(body, 200, headers);
    });
  }
}
