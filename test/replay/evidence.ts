/** What a recorded history has to show. */
export type Kind = 'crawl' | 'page' | 'throttle';
export const KINDS: readonly Kind[] = ['crawl', 'page', 'throttle'];

/** A kind that is left out has nothing new to show. */
export type Evidence = { readonly [kind in Kind]?: readonly string[] };
