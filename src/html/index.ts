export { isHtml } from './decode.ts';
export type { PageLink } from './links.ts';
export { type PageSource, type ParsedPage, parsePage } from './page.ts';
export { makeParser, type Parse } from './parser.ts';
