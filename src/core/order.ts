/** Orders: what operators change while crawls run, by whom and why. Each is recorded, whichever way it was sent. */

export const ORDER_CHANNELS = ['dashboard', 'cli', 'api', 'temporal'] as const;
export type OrderChannel = (typeof ORDER_CHANNELS)[number];

export type OrderKind =
  | 'pause'
  | 'resume'
  | 'delay'
  | 'reset'
  | 'cancel'
  | 'retry'
  | 'exclude'
  /** Everything. It is lifted by `resume` of everything. */
  | 'stop';

export interface OrderOrigin {
  channel: OrderChannel;
  /** A name, as far as the channel knows one. */
  by: string | null;
  reason: string | null;
}

export interface OperatorOrder {
  /** Recorded once under it, however often it is sent. */
  id: string;
  kind: OrderKind;
  origin: OrderOrigin;
}

/** An order with what it has changed, as a clause for people: `Running → Paused`. */
export interface CarriedOut extends OperatorOrder {
  effect: string;
}

export const NO_EFFECT = 'no change';

const MAX_REASON_LENGTH = 500;
export const MAX_NAME_LENGTH = 100;

export type ParsedOrigin = { ok: true; origin: OrderOrigin } | { ok: false; reason: string };

/** Sent with Temporal's own CLI, an origin may be any JSON, and is usually missing. */
export function parseOrigin(raw: unknown): ParsedOrigin {
  if (raw === undefined || raw === null) return accept({});
  if (typeof raw !== 'object' || Array.isArray(raw))
    return refuse(`${JSON.stringify(raw)} does not say who gives the order`);
  return accept(raw);
}

function accept(raw: { channel?: unknown; by?: unknown; reason?: unknown }): ParsedOrigin {
  const { channel = 'temporal', by = null, reason = null } = raw;
  const known = ORDER_CHANNELS.find((one) => one === channel);
  if (known === undefined) return refuse(`"channel" is not one of ${ORDER_CHANNELS.join(', ')}`);
  if (!isText(by, MAX_NAME_LENGTH))
    return refuse(`"by" is not a text of at most ${MAX_NAME_LENGTH} characters`);
  if (!isText(reason, MAX_REASON_LENGTH))
    return refuse(`"reason" is not a text of at most ${MAX_REASON_LENGTH} characters`);
  return { ok: true, origin: { channel: known, by: clean(by), reason: clean(reason) } };
}

function refuse(why: string): ParsedOrigin {
  return {
    ok: false,
    reason: `${why}: use {"by":"Anna","reason":"the site is being repaired"}, or leave it out.`,
  };
}

function isText(value: unknown, maxLength: number): value is string | null {
  return value === null || (typeof value === 'string' && value.length <= maxLength);
}

/** In one line. Postgres stores neither NUL nor halves of surrogate pairs. */
function clean(text: string | null): string | null {
  return text?.replaceAll(/[\p{Cc}\p{Cs}\s]+/gu, ' ').trim() || null;
}

/** As in "paused by anna (cli): the site is being repaired". */
export function describeOrigin({ channel, by, reason }: OrderOrigin): string {
  const why = reason === null ? '' : `: ${reason.replace(/\.$/, '')}`;
  return `by ${by ?? 'an operator'} (${channel})${why}`;
}
