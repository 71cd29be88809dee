/** What is on record about the robots.txt of a domain's origins. */
import type { Database } from '../database.ts';

export interface OriginRobots {
  origin: string;
  statusCode: number | null;
  /** Why the last try failed. null: it succeeded. */
  error: string | null;
  fetchedAt: Date | null;
  freshUntil: Date | null;
  productToken: string | null;
  /** The latest first. The rules in force are the first, if any were read. */
  versions: RobotsVersion[];
}

export interface RobotsVersion {
  since: Date;
  /** null: there was no robots.txt. */
  body: string | null;
}

/** A domain that is a whole site may have many. */
const MAX_ORIGINS = 5;

/** Of those that are kept, as proof that each request was allowed. That many are shown: each may have 500 KiB. */
const MAX_VERSIONS = 5;

export async function readRobotsVersions(db: Database, domain: string): Promise<OriginRobots[]> {
  const origins = await db.robots.findMany({
    where: { domain },
    select: {
      origin: true,
      statusCode: true,
      error: true,
      fetchedAt: true,
      freshUntil: true,
      productToken: true,
    },
    orderBy: { origin: 'asc' },
    take: MAX_ORIGINS,
  });
  return Promise.all(origins.map(async (one) => ({ ...one, versions: await readVersions(db, one.origin) })));
}

async function readVersions(db: Database, origin: string): Promise<RobotsVersion[]> {
  return db.$queryRaw<RobotsVersion[]>`
    SELECT created_at AS since, body FROM robots_rules WHERE origin = ${origin}
    ORDER BY origin DESC, id DESC LIMIT ${MAX_VERSIONS}`;
}
