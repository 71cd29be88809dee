/**
 * One path pattern of a rule: literals with `*` between them, and `$` at its end. Matching takes time in proportion to
 * path plus pattern whatever a hostile file holds: each literal is looked for once, where the one before it ended. The
 * leftmost place is always good enough, because what follows a `*` may be anywhere behind it.
 */
import { normaliseOctets } from './octets.ts';

export interface Pattern {
  /** Octets: the longest pattern that matches decides (RFC 9309, 2.2.2). */
  readonly length: number;
  /** `path` as `normaliseOctets` spells it. */
  matches(path: string): boolean;
}

export function compilePattern(written: string): Pattern {
  const anchored = written.endsWith('$');
  const [head = '', ...rest] = (anchored ? written.slice(0, -1) : written).split('*').map(normaliseOctets);
  const literals = rest.map(makeLiteral);
  const last = literals.at(-1);
  const length = [head, ...rest].join('*').length + (anchored ? 1 : 0);
  if (last === undefined) {
    return { length, matches: (path) => (anchored ? path === head : path.startsWith(head)) };
  }
  const between = anchored ? literals.slice(0, -1) : literals;
  return {
    length,
    matches(path) {
      if (!path.startsWith(head)) return false;
      let end = head.length;
      for (const literal of between) {
        end = literal.endIn(path, end);
        if (end < 0) return false;
      }
      return !anchored || (path.length - end >= last.text.length && path.endsWith(last.text));
    },
  };
}

interface Literal {
  text: string;
  /** Where its first occurrence from `from` on ends; -1: there is none. */
  endIn(path: string, from: number): number;
}

/** Knuth, Morris and Pratt: the standard library's search may take path times literal. */
function makeLiteral(text: string): Literal {
  let borders: Uint32Array | null = null;
  return {
    text,
    endIn(path, from) {
      if (path.length - from < text.length) return -1;
      borders ??= bordersOf(text);
      let matched = 0;
      let at = from;
      while (matched < text.length && at < path.length) {
        matched = extend(text, borders, matched, path.charCodeAt(at));
        at += 1;
      }
      return matched === text.length ? at : -1;
    },
  };
}

/** For each prefix of the text, the length of its longest proper prefix that is also its suffix. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  for (let at = 1; at < text.length; at += 1) {
    borders[at] = extend(text, borders, borders[at - 1] ?? 0, text.charCodeAt(at));
  }
  return borders;
}

/** How much of the text's beginning is there with one more octet, when `matched` of it was there before. */
function extend(text: string, borders: Uint32Array, matched: number, octet: number): number {
  let length = matched;
  while (length > 0 && text.charCodeAt(length) !== octet) length = borders[length - 1] ?? 0;
  return text.charCodeAt(length) === octet ? length + 1 : length;
}
