/**
 * Which ticket is next. Pages that have just spent a slot on robots.txt go first. Otherwise the best priority goes, crawls take
 * turns within it, and each crawl is served in order of arrival. At least every fifth grant goes to the oldest ticket, because
 * strict priority would starve the others. The next ticket is never overtaken because it needs a longer delay or less
 * concurrency, or it might wait forever.
 */
import { MAX_SERVED_CRAWLS, type Queue, type QueuedTicket } from './state.ts';

/** Consecutive grants that may pass over the oldest ticket. */
const MAX_PASSES = 4;

export function nextInQueue(queue: Queue): QueuedTicket | undefined {
  const front = queue.waiting.find((ticket) => ticket.atFront);
  if (front) return front;
  const oldest = queue.waiting[0];
  if (queue.passedOldest >= MAX_PASSES) return oldest;

  const turnOf = turns(queue);
  const compare = (one: QueuedTicket, other: QueuedTicket) =>
    one.priority - other.priority || turnOf(one.crawlId) - turnOf(other.crawlId);
  let best = oldest;
  for (const ticket of queue.waiting) {
    if (best && compare(ticket, best) < 0) best = ticket;
  }
  return best;
}

/** Removes a ticket that was granted and ends its crawl's turn. `oldest` is the oldest ticket that could have been granted. */
export function removeGranted(queue: Queue, ticket: QueuedTicket, oldest = queue.waiting[0]): void {
  if (oldest === ticket) queue.passedOldest = 0;
  else if (!ticket.atFront) queue.passedOldest += 1;
  queue.waiting = queue.waiting.filter((other) => other !== ticket);
  queue.served = [...queue.served.filter((crawl) => crawl !== ticket.crawlId), ticket.crawlId].slice(
    -MAX_SERVED_CRAWLS,
  );
}

/** The next `count` tickets in the order in which they will be granted if the queue does not change. */
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
 * The ticket's position; 1 is next. It is computed rather than simulated, so that an ask stays cheap when the queue is long. It may
 * be off by a few when grants to the oldest tickets mix with priorities.
 */
export function positionOf(queue: Queue, ticket: QueuedTicket): number {
  const older = queue.waiting.slice(0, queue.waiting.indexOf(ticket));
  const fronts = queue.waiting.filter((other) => other.atFront);
  if (ticket.atFront) return 1 + older.filter((other) => other.atFront).length;

  const others = queue.waiting.filter((other) => !other.atFront);
  const better = others.filter((other) => other.priority < ticket.priority).length;
  const byPriority = fronts.length + better + turnsBefore(queue, ticket, others, older) + 1;
  const byAge = fronts.length + (MAX_PASSES + 1) * (older.length + 1) - queue.passedOldest;
  return Math.max(1, Math.min(byPriority, byAge));
}

/** How many tickets of the same priority go before this one while the crawls take turns. */
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

/** Ranks crawls by their last grant: crawls without one first, then the longest ago. */
function turns(queue: Queue): (crawlId: string) => number {
  const ranks = new Map(queue.served.map((crawl, index) => [crawl, index + 1]));
  return (crawlId) => ranks.get(crawlId) ?? 0;
}
