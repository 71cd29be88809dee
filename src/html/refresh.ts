/** <meta http-equiv="refresh">, read as the HTML standard reads it. */

export interface Refresh {
  seconds: number;
  /** As written: relative to the page's base. */
  target: string;
}

/** Time, a separator, and an address with or without `url=` and quotes. */
const REFRESH =
  /^\s*(?=[\d.])(\d*)(?:\.[\d.]*)?(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(?:"([^"]*)"?|'([^']*)'?|(.*))/is;

/** null: it is none, or only loads the page again. */
export function parseRefresh(content: string): Refresh | null {
  const match = REFRESH.exec(content);
  const target = (match?.[2] ?? match?.[3] ?? match?.[4] ?? '').trim();
  return target === '' ? null : { seconds: Number(match?.[1] ?? 0), target };
}
