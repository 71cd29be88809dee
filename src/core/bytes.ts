/** Sizes as people write them: `10MiB`, `500kB`; a bare number is bytes. */

const UNIT_BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1_000,
  mb: 1_000_000,
  gb: 1_000_000_000,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
};

/** Largest first. */
const WRITTEN_UNITS = ['GiB', 'MiB', 'KiB'] as const;

export function parseBytes(raw: unknown): number | undefined {
  if (typeof raw === 'number') return inRange(raw);
  if (typeof raw !== 'string') return undefined;
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]+)?$/.exec(raw.trim().toLowerCase());
  const unit = UNIT_BYTES[match?.[2] ?? 'b'];
  return match && unit !== undefined ? inRange(Number(match[1]) * unit) : undefined;
}

/** The shortest form that parses back to exactly this many bytes. */
export function formatBytes(bytes: number): string {
  const unit = WRITTEN_UNITS.find((candidate) => bytes % bytesIn(candidate) === 0);
  return bytes > 0 && unit ? `${bytes / bytesIn(unit)}${unit}` : `${bytes}B`;
}

function bytesIn(unit: string): number {
  return UNIT_BYTES[unit.toLowerCase()] ?? 1;
}

/** One body lives in memory and its size in a Postgres integer: 2 GiB or more is a typing error. */
function inRange(bytes: number): number | undefined {
  return Number.isInteger(bytes) && bytes > 0 && bytes < 2 ** 31 ? bytes : undefined;
}
