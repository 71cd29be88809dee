/** A module hook that breaks functions of the build for pages with certain names. */

const BUGS = [
  {
    file: '/dist/src/html/page.js',
    declared: 'export function parsePage(',
    bug: `export function parsePage(source, ...rest) {
      if (source.url.endsWith('/unparsable')) {
        process.stderr.write('met the bug in the parser\\n');
        throw new TypeError('a bug in the parser');
      }
      return sound(source, ...rest);
    }
    function sound(`,
  },
  {
    file: '/dist/src/storage/pages/record-attempt.js',
    declared: 'export async function recordAttempt(',
    bug: `export async function recordAttempt(...given) {
      const done = given.at(-1);
      if (done.parsed?.title === 'Unrecordable') throw new TypeError('a bug in the record');
      return sound(...given);
    }
    async function sound(`,
  },
  {
    file: '/dist/src/sitemaps/read.js',
    declared: 'export async function readSitemap(',
    bug: `export async function readSitemap(body, source, ...rest) {
      if (source.url.endsWith('/unreadable.xml')) throw new TypeError('a bug in the reader');
      return sound(body, source, ...rest);
    }
    async function sound(`,
  },
  {
    file: '/dist/activities/fetch/fetch-document.js',
    declared: 'export async function fetchDocument(',
    bug: `export async function fetchDocument(deps, input, ...rest) {
      if (input.url.endsWith('/unfetchable')) throw new TypeError('a bug in the fetch');
      return sound(deps, input, ...rest);
    }
    async function sound(`,
  },
];

export async function load(url, context, next) {
  const loaded = await next(url, context);
  const planted = BUGS.find(({ file }) => url.endsWith(file));
  if (planted === undefined) return loaded;
  const source = String(loaded.source);
  if (!source.includes(planted.declared))
    throw new Error(`${url} does not declare what a bug was meant for.`);
  return { ...loaded, source: source.replace(planted.declared, planted.bug) };
}
