/** How Amble introduces itself. */

/** The name that robots.txt groups address, unless the installation goes by another. */
export const PRODUCT_TOKEN = 'Amble';

/** The product token of a User-Agent header, by which a robots.txt addresses whoever sends it (RFC 9309, 2.2.1). */
export function productToken(userAgent: string): string {
  return /^[A-Za-z_-]+/.exec(userAgent)?.[0] ?? PRODUCT_TOKEN;
}
