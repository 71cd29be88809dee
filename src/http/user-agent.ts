/** How Amble introduces itself. */

/** The name that robots.txt groups address. */
export const PRODUCT_TOKEN = 'Amble';

/** `contactUrl`: a page that says who crawls and how to reach them. */
export function userAgent({ version, contactUrl }: { version: string; contactUrl: string }): string {
  return `${PRODUCT_TOKEN}/${version} (+${contactUrl})`;
}
