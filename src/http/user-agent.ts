/** How Amble identifies itself. */

/** The name in robots.txt groups, unless the installation configures another. */
export const PRODUCT_TOKEN = 'Amble';

/** The product token of a User-Agent header, which robots.txt groups name (RFC 9309, 2.2.1). */
export function productToken(userAgent: string): string {
  return /^[A-Za-z_-]+/.exec(userAgent)?.[0] ?? PRODUCT_TOKEN;
}

export interface Identity {
  /** The whole header, including the contact. */
  userAgent: string;
  /** An email address (RFC 9110, 10.1.2). null: not sent. */
  from: string | null;
}

/** Sent with every request, so that a site's owner can find out whom to contact. */
export function identityHeaders({ userAgent, from }: Identity): Record<string, string> {
  return { 'user-agent': userAgent, ...(from === null ? {} : { from }) };
}
