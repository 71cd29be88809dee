/** Text of a page as a field keeps it: one line, bounded. */

/** Most texts of a page are in order as they are. */
const UNTIDY = /[^\S ]|\0| {2}|^ | $/;

/** Runs of white space become one space; cut at `maxLength` without splitting a character in two. */
export function tidy(text: string, maxLength: number): string {
  const oneLine = UNTIDY.test(text) ? text.replace(/[\s\0]+/g, ' ').trim() : text;
  if (oneLine.length <= maxLength) return oneLine;
  const cut = oneLine.slice(0, maxLength);
  return (isHighSurrogate(cut.charCodeAt(maxLength - 1)) ? cut.slice(0, -1) : cut).trimEnd();
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
