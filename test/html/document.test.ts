import { load } from 'cheerio';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDocument } from '../../src/html/document.ts';
import { Deadline } from '../../src/html/parse-limits.ts';
import { type Document, isElement, walk } from '../../src/html/walk.ts';
import { html, SEED } from '../fuzz/arbitraries.ts';

/** The tree as text. */
function outline(document: Document): string {
  let lines = '';
  let depth = 0;
  walk(
    document,
    (node) => {
      const content = isElement(node)
        ? JSON.stringify([node.name, node.namespace, node.attribs])
        : 'data' in node
          ? node.data
          : '';
      lines += `${depth} ${node.type} ${content}\n`;
      if (node.type !== 'text') depth += 1;
      return 'enter';
    },
    () => {
      depth -= 1;
    },
  );
  return lines;
}

/** Everything that changes the state of the tokenizer, and what decides where text and white space go. */
const crumbs = fc
  .array(
    fc.constantFrom(
      ...[
        'a',
        'bc',
        'D',
        ' ',
        '\n',
        '\t',
        '\f',
        '\r',
        '\r\n',
        '\0',
        '&',
        ';',
        '&amp;',
        '&#0;',
        '<',
        '>',
        '/',
        '=',
        '"',
        "'",
      ],
      ...[
        'é',
        '😀',
        '-',
        '!',
        '<!--',
        '-->',
        '<i',
        '</i',
        '<i a=',
        '<I A="',
        "<i a='b",
        ' a=1 A=2 ',
        '<![CDATA[',
        ']]>',
      ],
      ...[
        '<pre>',
        '<textarea>',
        '</textarea>',
        '<title>',
        '</title>',
        '<script>',
        '</script>',
        '<style>',
        '</style>',
      ],
      ...[
        '<table>',
        '<tr>',
        '<td>',
        '</table>',
        '<caption>',
        '<colgroup>',
        '</colgroup>',
        '<col>',
        '<select>',
        '<option>',
      ],
      ...[
        '<template>',
        '</template>',
        '<frameset>',
        '</frameset>',
        '<noframes>',
        '</noframes>',
        '<head>',
        '</head>',
      ],
      ...[
        '<body>',
        '</body>',
        '<html>',
        '</html>',
        '<svg>',
        '</svg>',
        '<b>',
        '<p>',
        '</p>',
        '<a>',
        '<plaintext>',
        '<iframe>',
      ],
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(''));

test('the limited tree adapter builds the same tree as the one of cheerio', () => {
  fc.assert(
    fc.property(crumbs, (text) => {
      const ours = parseDocument(text, { contentType: 'text/html', deadline: new Deadline(60_000) });
      expect(outline(ours)).toBe(outline(load(text, { scriptingEnabled: false })._root));
    }),
    { seed: SEED, numRuns: 5_000 },
  );
});

test('the first of several attributes with one name counts, however many there are', () => {
  const many = Array.from({ length: 100 }, (_, n) => `a${n % 70}=${n}`).join(' ');
  const text = `<p ${many} A3=x><a href=/x ${many} HREF=/y></a ${many}><i ${many}>`;
  const ours = parseDocument(text, { contentType: 'text/html', deadline: new Deadline(60_000) });
  expect(outline(ours)).toBe(outline(load(text, { scriptingEnabled: false })._root));
});

test('the trees of large and broken documents are the same too', () => {
  // parse5 drops what it has read of a document now and then; these are longer than that.
  const filler = fc.constantFrom(
    '',
    'w '.repeat(8_180),
    '😀'.repeat(8_180),
    `x${'😀'.repeat(8_200)}`,
    '<p>'.repeat(5_450),
  );
  let compared = 0;
  fc.assert(
    fc.property(filler, html, (before, body) => {
      const text = before + body.toString('latin1');
      let ours: Document;
      try {
        ours = parseDocument(text, { contentType: 'text/html', deadline: new Deadline(60_000) });
      } catch {
        // Exceeds a limit; see parse-limits.test.ts.
        return;
      }
      compared += 1;
      expect(outline(ours)).toBe(outline(load(text, { scriptingEnabled: false })._root));
    }),
    { seed: SEED, numRuns: 60 },
  );
  expect(compared).toBeGreaterThan(20);
});
