/** Types of page, recognised by a URL pattern (see pattern.ts). */
import type { UrlType } from '../core/settings.ts';
import { matchesPattern } from './pattern.ts';

/** Of a page without a type. */
export const DEFAULT_PRIORITY = 5;

/** What is known about a page before it is fetched. */
export interface PageKind {
  type: string | null;
  priority: number;
  keyword: string | null;
}

/** `url` is a normalised URL. `carried` is the keyword of the page with the link. */
export function classifyUrl(types: readonly UrlType[], url: string, carried: string | null): PageKind {
  const type = types.find(({ pattern }) => matchesPattern(pattern, url));
  return {
    type: type?.name ?? null,
    priority: type?.priority ?? DEFAULT_PRIORITY,
    keyword: carried ?? type?.keyword ?? null,
  };
}
