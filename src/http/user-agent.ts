/** How Amble introduces itself. */

/** The name that robots.txt groups address, unless the installation goes by another. */
export const PRODUCT_TOKEN = 'Amble';

/** The product token of a User-Agent header, by which a robots.txt addresses whoever sends it (RFC 9309, 2.2.1). */
export function productToken(userAgent: string): string {
  return /^[A-Za-z_-]+/.exec(userAgent)?.[0] ?? PRODUCT_TOKEN;
}

export interface Identity {
  /** The whole header, contact included. */
  userAgent: string;
  /** A mail address (RFC 9110, 10.1.2); null: not sent. */
  from: string | null;
}

/** Headers of every request, whatever it asks for: a site's owner must find out whom to write to. */
export function identityHeaders({ userAgent, from }: Identity): Record<string, string> {
  return { 'user-agent': userAgent, ...(from === null ? {} : { from }) };
}
