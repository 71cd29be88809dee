import type { DocumentSource, PageSource } from '../../src/html/index.ts';

/** A document as the parser gets it, whose body need not be stored. */
export function documentOf({ body, ...source }: PageSource): DocumentSource {
  return { ...source, bytes: body.length, readBody: async () => body };
}
