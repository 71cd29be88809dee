/** Documents made to be slow to read. */

/** As long as a document may be that is parsed on the main thread. */
const INLINE = 256 * 1024 - 1_000;

export const CJK = Array.from({ length: 7_900 }, (_, n) => String.fromCharCode(0x4e00 + n)).join('');

/** As many as one tag may have. */
const ATTRIBUTES = Array.from({ length: 1_900 }, (_, n) => ` a${n}`).join('');

export interface HostileDocument {
  html: string;
  contentType: string;
}

/** As many rules as fit into the 500 KiB of a robots.txt that are read. Each of them matches every URL with a `~`. */
export const ROBOTS_OF_WILDCARDS = 'allow:*~\n'.repeat(56_886);

export function hostileDocuments(): Record<string, HostileDocument> {
  return {
    'nested headings': page(`${'<h1><div>'.repeat(200)}${'x '.repeat((INLINE - 2_000) / 2)}`),
    'dense elements': page(fill('<p>x')),
    'dense table': page(fill('<tr><td>x', INLINE, '<table>')),
    'misplaced in a table': page(fill('<b>x</b>', INLINE, '<table>')),
    'forgotten formatting': page(fill('<p>x', INLINE, `<p>${fill('<b id=#>', 3_000)}`)),
    'a shared link title': page(fill('<p><wbr>', INLINE, `<p><a href=/x title="${' '.repeat(INLINE / 2)}">`)),
    'a shared link address': page(fill('<p><wbr>', INLINE, `<p><a href="/${'./'.repeat(3_900)}">`)),
    'a shared rel': page(fill('<p><wbr>', INLINE, `<p><a href=/x rel="${'a '.repeat(INLINE / 4)}">`)),
    'attributes of start tags': page(fill(`<i${ATTRIBUTES}>`)),
    'attributes of end tags': page(fill(`</i${ATTRIBUTES}>`)),
    'one tag with attributes': page(`<i${fill(' a#')}>`),
    'unclosed tags': page(fill('<a ')),
    'unclosed quotes': page(fill('<a b="')),
    'end tags of nothing': page(fill('</p>')),
    'nested lists': page(fill('<ul><li>', INLINE)),
    'nested, within bounds': page(fill('</i><i>', INLINE, '<div>'.repeat(500))),
    entities: page(fill('&amp;&notit;')),
    comments: page(fill('<!-- -->')),
    'white space': page(' '.repeat(INLINE)),
    'links with a long query': page(fill(`<a href="/?${fill('#&', 1_900)}">`)),
    'links in windows-1252': page(fill(`<a href="?${'\u00e9'.repeat(900)}#">`, INLINE / 2), 'text/html'),
    'links in shift_jis': page(
      fill(`<a href="?${'&#20320;'.repeat(900)}#">`),
      'text/html; charset=shift_jis',
    ),
    'links in gbk': page(fill(`<a href="?${'&#20320;&#500;'.repeat(500)}#">`), 'text/html; charset=gbk'),
    'links to long hosts': page(fill(`<a href="//${CJK}/#">`)),
    'links to short hosts': page(fill(`<a href="//${CJK.slice(0, 63)}/#">`)),
    'XHTML, nested links': page(
      `<html>${fill('<a href="/#">', 6_000)}${'x'.repeat(INLINE - 10_000)}`,
      'application/xhtml+xml',
    ),
    'meta robots': page(`<meta name=robots content="${'a '.repeat(INLINE / 2)}">`),
    'a refresh': page(`<meta http-equiv=refresh content="${' '.repeat(INLINE)}">`),
  };
}

function page(html: string, contentType = 'text/html; charset=utf-8'): HostileDocument {
  return { html, contentType };
}

/** Repeats a piece up to a length. Each `#` becomes a number. */
export function fill(piece: string, length = INLINE, start = ''): string {
  const pieces = [start];
  for (let n = 0, at = start.length; at < length; n += 1) {
    const next = piece.replaceAll('#', String(n));
    pieces.push(next);
    at += next.length;
  }
  return pieces.join('');
}
