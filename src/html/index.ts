export type { PageLink } from './links.ts';
export { type PageSource, type ParsedPage, parsePage } from './page.ts';
export { createParser, type Parse, type ParsedDocument } from './parser.ts';
