/**
 * Finds tags with so many attributes that parse5 would take too long: it compares the name of each with those of all before
 * it in the same tag (50,000 took 6 s), and nothing can stop it until the tag ends.
 */

/** 2,000 take about 5 ms. No honest page comes near. */
const MAX_ATTRIBUTES = 2_000;

/** For all tags of a document together, in squares of their attributes: about 10 ms. 130 tags with 1,900 took 160 ms. */
const MAX_SQUARES = 5_000_000;

/** A tag that can be skipped at once: all attributes apart, no markup in them, and no more than a hundred. */
const PLAIN_TAG =
  /<\/?[a-z][^\s/<>"'=]*(?:\s+[^\s/<>"'=]+(?:="[^"<]*"|='[^'<]*'|=[^\s<>"'=]+)?){0,100}\s*\/?>/iy;

/** The states in which the HTML standard reads a tag. */
const TAG_NAME = 0;
const BEFORE_ATTRIBUTE = 1;
const ATTRIBUTE_NAME = 2;
const AFTER_NAME = 3;
const BEFORE_VALUE = 4;
const DOUBLE_QUOTED = 5;
const SINGLE_QUOTED = 6;
const UNQUOTED = 7;
const OUTSIDE = 8;

/** Classes of characters: these two, then white space, `/`, `=`, `"` and `'`. */
const OTHER = 0;
const TAG_END = 1;
const CLASSES = 7;
const CLASS_OF_CHARACTER = new Uint8Array(128);
for (const [index, characters] of ['>', '\t\n\f\r ', '/', '=', '"', "'"].entries())
  for (const character of characters) CLASS_OF_CHARACTER[character.charCodeAt(0)] = index + 1;

/** A row for each state, a column for each class. */
// biome-ignore format: a table
const NEXT_STATE = Uint8Array.of(
  TAG_NAME, OUTSIDE, BEFORE_ATTRIBUTE, BEFORE_ATTRIBUTE, TAG_NAME, TAG_NAME, TAG_NAME,
  ATTRIBUTE_NAME, OUTSIDE, BEFORE_ATTRIBUTE, BEFORE_ATTRIBUTE, ATTRIBUTE_NAME, ATTRIBUTE_NAME, ATTRIBUTE_NAME,
  ATTRIBUTE_NAME, OUTSIDE, AFTER_NAME, BEFORE_ATTRIBUTE, BEFORE_VALUE, ATTRIBUTE_NAME, ATTRIBUTE_NAME,
  ATTRIBUTE_NAME, OUTSIDE, AFTER_NAME, BEFORE_ATTRIBUTE, BEFORE_VALUE, ATTRIBUTE_NAME, ATTRIBUTE_NAME,
  UNQUOTED, OUTSIDE, BEFORE_VALUE, UNQUOTED, UNQUOTED, DOUBLE_QUOTED, SINGLE_QUOTED,
  DOUBLE_QUOTED, DOUBLE_QUOTED, DOUBLE_QUOTED, DOUBLE_QUOTED, DOUBLE_QUOTED, BEFORE_ATTRIBUTE, DOUBLE_QUOTED,
  SINGLE_QUOTED, SINGLE_QUOTED, SINGLE_QUOTED, SINGLE_QUOTED, SINGLE_QUOTED, SINGLE_QUOTED, BEFORE_ATTRIBUTE,
  UNQUOTED, OUTSIDE, BEFORE_ATTRIBUTE, UNQUOTED, UNQUOTED, UNQUOTED, UNQUOTED,
);

interface OpenTag {
  state: number;
  attributes: number;
}

/**
 * Assumes that a tag begins at every `<` that could begin one: only a parser knows which of them stand in a script, a
 * comment or a value. Once two such tags are in the same state they stay in step, so only the larger is kept, and one pass
 * is enough whatever the text. It may see a tag where there is none, but it overlooks none.
 */
export function hasTooManyAttributes(html: string, maxAttributes = MAX_ATTRIBUTES): boolean {
  let tags: OpenTag[] = [];
  let squares = 0;
  for (let index = 0; index < html.length; index += 1) {
    if (tags.length === 0) {
      index = html.indexOf('<', index);
      if (index === -1) return false;
      PLAIN_TAG.lastIndex = index;
      if (PLAIN_TAG.test(html)) {
        index = PLAIN_TAG.lastIndex - 1;
        continue;
      }
    }
    const unit = html.charCodeAt(index);
    const characterClass = CLASS_OF_CHARACTER[unit] ?? OTHER;
    for (const tag of tags) {
      const state = NEXT_STATE[tag.state * CLASSES + characterClass] ?? OUTSIDE;
      if (state === ATTRIBUTE_NAME && tag.state !== ATTRIBUTE_NAME) tag.attributes += 1;
      if (tag.attributes > maxAttributes) return true;
      if (state === OUTSIDE) squares += tag.attributes ** 2;
      tag.state = state;
    }
    if (squares > MAX_SQUARES) return true;
    const begins = unit === 0x3c && canBeginTag(html.charCodeAt(index + 1));
    if (begins) tags.push({ state: TAG_NAME, attributes: 0 });
    if (characterClass === TAG_END || (tags.length > 1 && (begins || characterClass !== OTHER)))
      tags = largestInEachState(tags);
  }
  return false;
}

/** A letter, or the `/` of an end tag, which may have attributes too. */
function canBeginTag(unit: number): boolean {
  return unit === 0x2f || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a);
}

function largestInEachState(tags: readonly OpenTag[]): OpenTag[] {
  const largest: OpenTag[] = [];
  for (const tag of tags) {
    if (tag.state === OUTSIDE) continue;
    const index = largest.findIndex(({ state }) => state === tag.state);
    const known = largest[index];
    if (known === undefined) largest.push(tag);
    else if (known.attributes < tag.attributes) largest[index] = tag;
  }
  return largest;
}
