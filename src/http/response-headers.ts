/** The headers of a response as the rest of the program reads them: one text for each name. */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { MULTI_LINE_HEADERS, type ResponseHeaders } from './exchange.ts';

export function flattenHeaders(headers: IncomingHttpHeaders): ResponseHeaders {
  const entries = Object.entries(headers).map(([written, value]) => {
    const name = written.toLowerCase();
    return [name, Array.isArray(value) ? join(name, value) : (value ?? '')];
  });
  const flat: ResponseHeaders = Object.fromEntries(entries);
  return flat.location === undefined ? flat : { ...flat, location: readUtf8(flat.location) };
}

/** Of several targets of a redirect the first counts: joined by a comma they would be one that leads nowhere. */
function join(name: string, values: readonly string[]): string {
  if (name === 'location') return values[0] ?? '';
  return values.join(MULTI_LINE_HEADERS.has(name) ? '\n' : ', ');
}

/** undici decodes headers as Latin-1. Many servers send URLs in unescaped UTF-8, and browsers follow them. */
function readUtf8(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}
