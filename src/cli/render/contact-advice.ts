import type { AmbleConfig } from '../../config/index.ts';

/** What a site's owner could write to: the address of a page, or of somebody. */
const ADDRESS = /https?:\/\/|@/;

/** One line for whoever crawls the sites of others without saying who they are; null: they do, or it is their own network. */
export function contactAdvice({ userAgent, from, crawl }: AmbleConfig): string | null {
  if (from !== null || ADDRESS.test(userAgent) || crawl.allowNetwork.length > 0) return null;
  return 'Sites cannot tell who crawls them: set "contact" (AMBLE_CONTACT) to a page that says so, or "from" to a mail address.';
}
