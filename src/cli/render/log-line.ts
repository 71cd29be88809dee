/** A line of the log for people: the time, the level, the sentence, then what it is about. */
import { z } from 'zod';

const LogLine = z.looseObject({
  level: z.number(),
  time: z.number(),
  msg: z.string().default(''),
  err: z.looseObject({ message: z.string().default(''), stack: z.string().optional() }).optional(),
});

const NAMES = new Map([
  [10, 'TRACE'],
  [20, 'DEBUG'],
  [30, 'INFO'],
  [40, 'WARN'],
  [50, 'ERROR'],
  [60, 'FATAL'],
]);

const NAME_WIDTH = 5;

/** The same on every line of a process. */
const OMITTED = new Set(['pid', 'hostname']);

/** `json`: as pino writes it. What is not such a line stays as it is. */
export function renderLogLine(json: string): string {
  const parsed = LogLine.safeParse(parse(json));
  if (!parsed.success) return json;
  const { level, time, msg, err, ...rest } = parsed.data;
  const fields = Object.entries(rest)
    .filter(([key]) => !OMITTED.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const head = `${timeOf(time)} ${(NAMES.get(level) ?? String(level)).padEnd(NAME_WIDTH)} ${msg}`;
  return [
    [head, ...fields].join('  '),
    ...(err === undefined ? [] : [`    ${err.stack ?? err.message}`]),
  ].join('\n');
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString().slice(11, 23);
}
