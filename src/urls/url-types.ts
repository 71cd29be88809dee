/** Kinds of page, known by their URL: see src/urls/pattern.ts for what a pattern is. */
import type { UrlType } from '../core/settings.ts';
import { matchesPattern } from './pattern.ts';

/** Of a page whose type, if any, says nothing else. */
export const DEFAULT_PRIORITY = 5;

/** What a page is before it is fetched: its place in line and the words it carries. */
export interface PageKind {
  type: string | null;
  priority: number;
  keyword: string | null;
}

/** `url` is a normalised URL; `carried` the keyword of the page it was found on. */
export function classifyUrl(types: readonly UrlType[], url: string, carried: string | null): PageKind {
  const type = types.find(({ pattern }) => matchesPattern(pattern, url));
  return {
    type: type?.name ?? null,
    priority: type?.priority ?? DEFAULT_PRIORITY,
    keyword: carried ?? type?.keyword ?? null,
  };
}
