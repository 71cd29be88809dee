export { TooManyWaitingError } from './fair-turns.ts';
export { loadDetector } from './language.ts';
export type { PageLink } from './links.ts';
export { type PageSource, type ParsedPage, parsePage } from './page.ts';
export { createParser, type DocumentSource, type Parse, type ParsedDocument, ParseError } from './parser.ts';
