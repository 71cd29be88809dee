/**
 * Who is next. Pages that have just spent a slot on robots.txt go first; then, at least every fifth time, the oldest ticket
 * (strict priority would starve the rest); otherwise the best priority, crawls taking turns within it, each crawl first
 * come, first served. Whoever is next is not overtaken for wanting a longer delay or less concurrency: else it might
 * wait for ever.
 */
import { MAX_SERVED_CRAWLS, type Queue, type QueuedTicket } from './state.ts';

/** Grants in a row that may pass the oldest ticket by. */
const MAY_PASS_OLDEST = 4;

export function nextInQueue(queue: Queue): QueuedTicket | undefined {
  const atFront = queue.waiting.find((ticket) => ticket.atFront);
  if (atFront) return atFront;
  const oldest = queue.waiting[0];
  if (queue.passedOldest >= MAY_PASS_OLDEST) return oldest;

  const turnOf = turns(queue);
  const goesBefore = (one: QueuedTicket, other: QueuedTicket) =>
    one.priority - other.priority || turnOf(one.crawlId) - turnOf(other.crawlId);
  let best = oldest;
  for (const ticket of queue.waiting) {
    if (best && goesBefore(ticket, best) < 0) best = ticket;
  }
  return best;
}

/** The ticket has got its slot: it leaves, and its crawl goes to the end of the turn. `oldest` of those who could go. */
export function removeGranted(queue: Queue, ticket: QueuedTicket, oldest = queue.waiting[0]): void {
  if (oldest === ticket) queue.passedOldest = 0;
  else if (!ticket.atFront) queue.passedOldest += 1;
  queue.waiting = queue.waiting.filter((other) => other !== ticket);
  queue.served = [...queue.served.filter((crawl) => crawl !== ticket.crawlId), ticket.crawlId].slice(
    -MAX_SERVED_CRAWLS,
  );
}

/** The next `count` in the order in which they will be served if nobody comes or goes. */
export function upcoming(queue: Queue, count: number): QueuedTicket[] {
  const rest: Queue = { ...queue };
  const order: QueuedTicket[] = [];
  while (order.length < count) {
    const next = nextInQueue(rest);
    if (!next) break;
    removeGranted(rest, next);
    order.push(next);
  }
  return order;
}

/**
 * The ticket's place, 1 is next. Counted rather than played through, so that asking stays cheap in a long queue; where the
 * oldest ticket's right mixes with the priorities it is off by the few it lets in between.
 */
export function positionOf(queue: Queue, ticket: QueuedTicket): number {
  const older = queue.waiting.slice(0, queue.waiting.indexOf(ticket));
  const fronts = queue.waiting.filter((other) => other.atFront);
  if (ticket.atFront) return 1 + older.filter((other) => other.atFront).length;

  const others = queue.waiting.filter((other) => !other.atFront);
  const better = others.filter((other) => other.priority < ticket.priority).length;
  const byPriority = fronts.length + better + turnsBefore(queue, ticket, others, older) + 1;
  const byAge = fronts.length + (MAY_PASS_OLDEST + 1) * (older.length + 1) - queue.passedOldest;
  return Math.max(1, Math.min(byPriority, byAge));
}

/** How many of the same priority go before the ticket while the crawls take turns. */
function turnsBefore(
  queue: Queue,
  ticket: QueuedTicket,
  others: QueuedTicket[],
  older: QueuedTicket[],
): number {
  const equals = others.filter((other) => other.priority === ticket.priority);
  const rounds = older.filter(
    (other) => !other.atFront && other.priority === ticket.priority && other.crawlId === ticket.crawlId,
  ).length;
  const firstSeen = new Map<string, number>();
  const perCrawl = new Map<string, number>();
  equals.forEach((other, index) => {
    if (!firstSeen.has(other.crawlId)) firstSeen.set(other.crawlId, index);
    perCrawl.set(other.crawlId, (perCrawl.get(other.crawlId) ?? 0) + 1);
  });
  const turnOf = turns(queue);
  const order = (crawl: string) => [turnOf(crawl), firstSeen.get(crawl) ?? 0] as const;
  const [ownTurn, ownSeen] = order(ticket.crawlId);
  let before = 0;
  for (const [crawl, count] of perCrawl) {
    const [turn, seen] = order(crawl);
    const isAhead = crawl !== ticket.crawlId && (turn < ownTurn || (turn === ownTurn && seen < ownSeen));
    before += Math.min(count, rounds + (isAhead ? 1 : 0));
  }
  return before;
}

/** Ranks crawls by how long ago they were served, those never served first. */
function turns(queue: Queue): (crawlId: string) => number {
  const ranks = new Map(queue.served.map((crawl, index) => [crawl, index + 1]));
  return (crawlId) => ranks.get(crawlId) ?? 0;
}
