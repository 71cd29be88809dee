/** What <meta> elements say, by name or by pragma. */
import type { Element } from './walk.ts';

export function metaContents(metas: readonly Element[], ...names: string[]): string[] {
  return metas
    .filter((meta) => names.includes(meta.attribs.name?.trim().toLowerCase() ?? ''))
    .map((meta) => meta.attribs.content ?? '');
}

export function pragma(metas: readonly Element[], name: string): string | undefined {
  return metas.find((meta) => meta.attribs['http-equiv']?.trim().toLowerCase() === name)?.attribs.content;
}
