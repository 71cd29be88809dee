/**
 * The kinds of value a setting can have. Each reads what JSON, an environment variable or a flag may hold; `expected` ends the
 * sentence `--delay is "soon", but must be ...`.
 */
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { parseBytes } from '../core/bytes.ts';
import { parseDelayRange, parseDuration } from '../core/duration.ts';
import { parseCidr } from '../http/network-policy.ts';

/** Means "no limit" or "not set" in environment variables and flags, which have no null. */
export const NONE = 'none';

export function value<T>(expected: string, read: (raw: unknown) => T | undefined) {
  return z
    .unknown()
    .transform((raw, context): T => {
      const result = read(raw);
      if (result !== undefined) return result;
      context.addIssue({ code: 'custom', message: expected });
      return z.NEVER;
    })
    .describe(expected);
}

function orNone<T>(read: (raw: unknown) => T | undefined): (raw: unknown) => T | null | undefined {
  return (raw) => (raw === null || raw === NONE ? null : read(raw));
}

function readText(raw: unknown): string | undefined {
  return typeof raw === 'string' && raw.trim() !== '' ? raw.trim() : undefined;
}

function readCount(least: number): (raw: unknown) => number | undefined {
  return (raw) => {
    const number = typeof raw === 'string' && /^\d+$/.test(raw.trim()) ? Number(raw) : raw;
    return typeof number === 'number' && Number.isInteger(number) && number >= least && number < 2 ** 31
      ? number
      : undefined;
  };
}

/** A JSON array, or text separated by commas as in flags and environment variables. */
function readList(raw: unknown): string[] | undefined {
  const items: unknown[] = typeof raw === 'string' ? raw.split(',') : Array.isArray(raw) ? raw : [undefined];
  const texts = items.map((item) => (typeof item === 'string' ? item.trim() : undefined));
  return texts.every((text) => text !== undefined) ? texts.filter((text) => text !== '') : undefined;
}

function readCidr(raw: string): string | undefined {
  const parsed = parseCidr(raw);
  return parsed.ok ? `${parsed.cidr.network.toString()}/${parsed.cidr.prefix}` : undefined;
}

/** `name:address`; an IPv6 address may be in brackets as in a URL. */
function readResolve(entry: string): [string, string] | undefined {
  const match = /^([^:\s/]+):\[?([^\s[\]]+)\]?$/.exec(entry);
  const [name, address] = [match?.[1], match?.[2]];
  if (name === undefined || address === undefined) return undefined;
  return ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
    ? [name.toLowerCase(), address]
    : undefined;
}

function readResolves(raw: unknown): Record<string, string> | undefined {
  const isRecord = typeof raw === 'object' && raw !== null && !Array.isArray(raw);
  const entries = readList(
    isRecord ? Object.entries(raw).map(([name, address]) => `${name}:${address}`) : raw,
  );
  const pairs = entries?.map(readResolve);
  return pairs?.every((pair) => pair !== undefined) ? Object.fromEntries(pairs) : undefined;
}

export const text = (expected: string) => value(expected, readText);

export const textOrNone = (expected: string) => value(`${expected}, or "none"`, orNone(readText));

const MAX_LABEL_LENGTH = 200;

/** A name or keyword of a page. */
export const label = (expected: string) =>
  value(`${expected} of 1 to ${MAX_LABEL_LENGTH} characters`, (raw) => {
    const written = readText(raw);
    return written !== undefined && written.length <= MAX_LABEL_LENGTH ? written : undefined;
  });

export const oneOf = <const T extends string>(...choices: readonly T[]) =>
  value(`one of ${choices.join(', ')}`, (raw) => choices.find((choice) => choice === raw));

export const count = (least: number) => value(`a whole number of at least ${least}`, readCount(least));

export const countOrNone = (least: number) =>
  value(`a whole number of at least ${least}, or "none"`, orNone(readCount(least)));

export const duration = () =>
  value('a duration such as "250ms", "10s" or "1h" (at most 24 days)', parseDuration);

/** For limits that would stop everything at zero. */
export const positiveDuration = () =>
  value(
    'a duration above zero such as "250ms", "10s" or "1h" (at most 24 days)',
    (raw) => parseDuration(raw) || undefined,
  );

export const boolean = () =>
  value('true or false', (raw) => {
    const written = typeof raw === 'string' ? raw.trim().toLowerCase() : raw;
    if (written === true || written === 'true') return true;
    return written === false || written === 'false' ? false : undefined;
  });

export const delayRange = () =>
  value(
    'a duration such as "10s" or a range such as "5s-15s", the shorter first, at most 24h',
    parseDelayRange,
  );

export const size = () => value('a size above zero and below 2 GiB such as "10MiB" or "500kB"', parseBytes);

export const factor = () =>
  value('a number of at least 1', (raw) => {
    const number = typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : raw;
    return typeof number === 'number' && Number.isFinite(number) && number >= 1 ? number : undefined;
  });

/** It becomes part of a header. A URL may be written with line breaks and in any script, a header may not. */
const HTTP_URL = /^https?:\/\/[\x21-\x7e]+$/i;

export const httpUrlOrNone = () =>
  value(
    'an http or https URL of ASCII characters without spaces, or "none"',
    orNone((raw) => {
      const url = readText(raw);
      return url !== undefined && HTTP_URL.test(url) && URL.canParse(url) ? url : undefined;
    }),
  );

export const postgresUrlOrNone = () =>
  value(
    'a URL such as "postgresql://user:password@host:5432/name", or "none"',
    orNone((raw) => {
      const url = readText(raw);
      return url !== undefined && /^postgres(ql)?:\/\//i.test(url) && URL.canParse(url) ? url : undefined;
    }),
  );

/** An IP address, not a name: it says on which interface to listen. */
export const socketAddressOrNone = () =>
  value(
    'an IP address and a port such as "127.0.0.1:9464", or "none"',
    orNone((raw) => {
      const [, host = '', port = ''] = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(readText(raw) ?? '') ?? [];
      const isPort = Number(port) > 0 && Number(port) < 2 ** 16;
      if (!isPort) return undefined;
      if (ipaddr.IPv4.isValidFourPartDecimal(host)) return `${host}:${port}`;
      return ipaddr.IPv6.isValid(host) ? `[${host}]:${port}` : undefined;
    }),
  );

/** A line break in an HTTP header would begin a second header. */
export const headerText = () =>
  value('a line of printable ASCII that starts with a product name such as "MyBot/1.0"', (raw) => {
    const line = readText(raw);
    return line !== undefined && /^[A-Za-z][\x20-\x7e]*$/.test(line) ? line : undefined;
  });

/** RFC 9110, 10.1.2: one address, as in a mail. */
export const mailAddressOrNone = () =>
  value(
    'a mail address such as "crawl@example.org", or "none"',
    orNone((raw) => {
      const address = readText(raw);
      return address !== undefined && /^[\x21-\x7e]+@[\x21-\x7e]+$/.test(address) ? address : undefined;
    }),
  );

export const mediaTypes = () =>
  value('types such as "application/pdf" or "image/*"', (raw) => {
    const types = readList(raw)?.map((type) => type.toLowerCase());
    return types?.every((type) => /^(\*\/\*|[\w.+-]+\/(\*|[\w.+-]+))$/.test(type)) ? types : undefined;
  });

export const cidrs = () =>
  value('networks such as "127.0.0.0/8" or "fd00::/8"', (raw) => {
    const read = readList(raw)?.map(readCidr);
    return read?.every((cidr) => cidr !== undefined) ? read : undefined;
  });

/** A pattern that cannot match any URL is a typing error; accepted, it would end the crawl at its seeds. */
export const patterns = () =>
  value('patterns such as "/docs/*" or "https://*.example.org/*"', (raw) =>
    readList(raw)?.every((pattern) => /^(?:\/|\*|https?:)/.test(pattern)) ? readList(raw) : undefined,
  );

export const parameterNames = () =>
  value('names of query parameters such as "ref"', (raw) => readList(raw)?.map((name) => name.toLowerCase()));

export const resolves = () =>
  value('"name:address" such as "staging.example.org:192.0.2.7", with an IP address', readResolves);

/** Where a server listens. */
export interface ListenAddress {
  /** A name or an address; an IPv6 address without brackets. */
  host: string;
  /** 0: any free one. */
  port: number;
}

/** `localhost:8080`, `0.0.0.0:80`, `[::1]:8080`. */
export const listenAddressOrNone = () =>
  value(
    'an address and a port such as "localhost:8080", or "none"',
    orNone((raw): ListenAddress | undefined => {
      const match = /^(?:\[([\da-f:.]+)\]|([a-z\d.-]+)):(\d{1,5})$/i.exec(readText(raw) ?? '');
      const [host, port] = [match?.[1] ?? match?.[2], Number(match?.[3])];
      return host !== undefined && port < 2 ** 16 ? { host, port } : undefined;
    }),
  );

/** Of a server to connect to. People write a URL by mistake; its `http` would be taken for the host. */
export const serverAddressOrNone = () =>
  value(
    'a host and a port such as "localhost:7233", or "none"',
    orNone((raw) => {
      const address = readText(raw);
      return /^(?:\[[\da-f:.]+\]|[^\s:/@[\]]+)(?::\d{1,5})?$/i.test(address ?? '') ? address : undefined;
    }),
  );

/** What Temporal accepts on Postgres, and what needs no quotes in a shell. */
export const buildIdOrNone = () =>
  value(
    'an id of 1 to 100 letters, digits and ".", "_", "+", "-" such as "0.2.0", or "none"',
    orNone((raw) => {
      const id = readText(raw);
      return id !== undefined && /^[A-Za-z\d][\w.+-]{0,99}$/.test(id) ? id : undefined;
    }),
  );

/** Shorter ones can be guessed. */
const MIN_TOKEN_LENGTH = 20;

export const tokenOrNone = () =>
  value(
    `a secret of at least ${MIN_TOKEN_LENGTH} characters, or "none"`,
    orNone((raw) => {
      const token = readText(raw);
      return token !== undefined && token.length >= MIN_TOKEN_LENGTH ? token : undefined;
    }),
  );

export const hostNames = () =>
  value('a list of host names without ports', (raw) => {
    const names = readList(raw)?.map((name) => name.toLowerCase());
    return names?.every((name) => /^([a-z\d.-]+|\[[\da-f:.]+\])$/.test(name)) ? names : undefined;
  });
