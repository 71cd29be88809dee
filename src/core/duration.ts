/** Durations as people write them: `250ms`, `10s`, `1.5h`, a range `5s-15s`. A number in JSON is milliseconds. */
import type { DelayRange } from './slot-protocol.ts';

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Largest first: a duration is written in the largest unit that leaves no fraction. */
const WRITTEN_UNITS = ['d', 'h', 'm', 's'] as const;

/** A longer delay is a mistake in the unit. The throttle refuses it too. */
export const MAX_DELAY_MS = 24 * 3_600_000;

/** A Postgres integer holds no more milliseconds than these 24 days. */
export const MAX_DURATION_MS = 2 ** 31 - 1;

export function parseDuration(raw: unknown): number | undefined {
  if (typeof raw === 'number') return inRange(raw);
  if (typeof raw !== 'string') return undefined;
  // A unit is required: "10" would be ten milliseconds to Amble and ten seconds to the person who typed it.
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)$/.exec(raw.trim().toLowerCase());
  if (raw.trim() === '0') return 0;
  const unit = match?.[2];
  return isUnit(unit) ? inRange(Number(match?.[1]) * UNIT_MS[unit]) : undefined;
}

export function parseDelayRange(raw: unknown): DelayRange | undefined {
  const [first, second, ...rest] = typeof raw === 'string' ? raw.split('-') : [raw];
  if (rest.length > 0) return undefined;
  const minMs = parseDuration(first);
  const maxMs = second === undefined ? minMs : parseDuration(second);
  if (minMs === undefined || maxMs === undefined || minMs > maxMs || maxMs > MAX_DELAY_MS) return undefined;
  return { minMs, maxMs };
}

/** The shortest form that parses back to exactly this many milliseconds. */
export function serializeDuration(ms: number): string {
  if (ms === 0) return '0s';
  const unit = WRITTEN_UNITS.find((candidate) => ms % UNIT_MS[candidate] === 0) ?? 'ms';
  return `${ms / UNIT_MS[unit]}${unit}`;
}

export function formatDelayRange({ minMs, maxMs }: DelayRange): string {
  return minMs === maxMs
    ? serializeDuration(minMs)
    : `${serializeDuration(minMs)}-${serializeDuration(maxMs)}`;
}

function inRange(ms: number): number | undefined {
  const rounded = Math.round(ms);
  return Number.isFinite(ms) && rounded >= 0 && rounded <= MAX_DURATION_MS ? rounded : undefined;
}

function isUnit(written: string | undefined): written is keyof typeof UNIT_MS {
  return written !== undefined && written in UNIT_MS;
}
