/**
 * The demo web as data: six small hosts, each with something a crawler must handle. A link is a path on the same host
 * (`/menu`) or a host and a path (`//bakery/menu`). A link to a path that is not listed is a 404 on purpose.
 */

export type DemoPage =
  | {
      kind: 'html';
      path: string;
      title: string;
      text: string;
      links: string[];
      /** Delay of the response. */
      slowMs?: number;
      /** Number of 503 responses before the page is served. */
      failures?: number;
    }
  | { kind: 'file'; path: string; contentType: string; body: string }
  | { kind: 'redirect'; path: string; to: string };

export interface DemoHost {
  /** First label of the host name `<name>.demo.test`. */
  name: string;
  title: string;
  emblem: string;
  colour: string;
  /** null: no robots.txt. */
  robots: { disallow: string[]; crawlDelaySeconds?: number } | null;
  pages: DemoPage[];
}

/** RFC 2606 reserves .test: it can never be a real site. */
export const DEMO_DOMAIN = 'demo.test';

const OPEN_TO_ALL = { disallow: [] };

function html(path: string, title: string, text: string, links: string[], faults: Faults = {}): DemoPage {
  return { kind: 'html', path, title, text, links, ...faults };
}

interface Faults {
  slowMs?: number;
  failures?: number;
}

function numbered(count: number, create: (number: number) => DemoPage): DemoPage[] {
  return Array.from({ length: count }, (_, index) => create(index + 1));
}

function paths(folder: string, names: readonly string[]): string[] {
  return names.map((name) => `${folder}/${name}`);
}

const BEDS = ['Roses', 'Kale', 'Strawberries', 'Foxgloves', 'Leeks', 'Lavender', 'Pumpkins', 'Ferns'];
const BREADS = ['rye', 'sourdough', 'baguette', 'focaccia', 'pretzel', 'brioche'];
const SHELVES = ['a', 'b', 'c', 'd', 'e'];
const PLANETS = ['mercury', 'venus', 'mars', 'jupiter', 'saturn', 'uranus', 'neptune'];
const BOOKS = 15;
const BOATS = 5;
const LETTERS = 7;

const garden: DemoHost = {
  name: 'garden',
  title: 'The Walled Garden',
  emblem: '🌿',
  colour: '#4c7a3f',
  robots: OPEN_TO_ALL,
  pages: [
    html('/', 'The Walled Garden', 'Eight beds, one shed, and bees that take their time.', [
      ...paths('/beds', ['1', '2', '3', '4', '5', '6', '7', '8']),
      '/shed',
      '/bees',
      '/seed-list.pdf',
      '//bakery/',
    ]),
    ...numbered(BEDS.length, (number) =>
      html(`/beds/${number}`, `Bed ${number}: ${BEDS[number - 1]}`, 'Watered on even days.', [
        '/',
        `/beds/${(number % BEDS.length) + 1}#soil`,
      ]),
    ),
    html('/shed', 'The shed', 'Spades, string, and a map of the garden that somebody lost.', [
      '/',
      '/lost-map',
    ]),
    html('/bees', 'The bees', 'Nobody hurries a bee. This page is slow.', ['/', '//post/letters/3'], {
      slowMs: 600,
    }),
    {
      kind: 'file',
      path: '/seed-list.pdf',
      contentType: 'application/pdf',
      body: '%PDF-1.4\n% a list of seeds\n%%EOF\n',
    },
  ],
};

const bakery: DemoHost = {
  name: 'bakery',
  title: 'The Corner Bakery',
  emblem: '🥐',
  colour: '#a8642a',
  robots: OPEN_TO_ALL,
  pages: [
    html('/', 'The Corner Bakery', 'Open from four in the morning.', [
      ...paths('/breads', BREADS),
      '/oven',
      '/today',
      '/old-menu',
      '/yesterday',
      '//harbour/',
    ]),
    ...BREADS.map((bread) =>
      html(`/breads/${bread}`, `Bread: ${bread}`, 'Flour, water, salt and patience.', ['/', '/menu']),
    ),
    html('/menu', 'The menu', 'Everything that comes out of the oven.', ['/', ...paths('/breads', BREADS)]),
    html('/oven', 'The oven', 'It needs a while to get warm. This page is slow.', ['/'], { slowMs: 800 }),
    html(
      '/today',
      'Fresh today',
      'The baker overslept: this page fails twice before it serves.',
      ['/', '/menu'],
      {
        failures: 2,
      },
    ),
    { kind: 'redirect', path: '/old-menu', to: '/menu' },
  ],
};

const library: DemoHost = {
  name: 'library',
  title: 'The Town Library',
  emblem: '📚',
  colour: '#5b4a8a',
  robots: null,
  pages: [
    html('/', 'The Town Library', 'Five shelves. No robots.txt: visitors are trusted.', [
      ...paths('/shelf', SHELVES),
      '//observatory/',
    ]),
    ...SHELVES.map((shelf, index) =>
      html(`/shelf/${shelf}`, `Shelf ${shelf.toUpperCase()}`, 'Three books, in no particular order.', [
        '/',
        ...[1, 2, 3].map((place) => `/book/${index * 3 + place}`),
      ]),
    ),
    ...numbered(BOOKS, (number) =>
      html(`/book/${number}`, `Book ${number}`, 'A book that refers to the next one.', [
        '/',
        number < BOOKS ? `/book/${number + 1}` : '/book/missing',
      ]),
    ),
  ],
};

const observatory: DemoHost = {
  name: 'observatory',
  title: 'The Hill Observatory',
  emblem: '🔭',
  colour: '#27496d',
  robots: OPEN_TO_ALL,
  pages: [
    html('/', 'The Hill Observatory', 'Light takes its time to get here, and so do the pages.', [
      ...paths('/planets', PLANETS),
      '/log',
      '/comet',
    ]),
    ...PLANETS.map((planet, index) =>
      html(
        `/planets/${planet}`,
        planet,
        'Seen on a clear night.',
        ['/', '/log'],
        index % 3 === 0 ? { slowMs: 300 } : {},
      ),
    ),
    html('/log', 'Night log', 'Clouds, mostly.', ['/', '//library/shelf/e', '//garden/bees']),
  ],
};

const harbour: DemoHost = {
  name: 'harbour',
  title: 'The Old Harbour',
  emblem: '⚓',
  colour: '#1f6f78',
  robots: { disallow: ['/private/'], crawlDelaySeconds: 0.5 },
  pages: [
    html('/', 'The Old Harbour', 'The harbour master asks for half a second between visitors.', [
      ...paths('/boats', ['1', '2', '3', '4', '5']),
      '/tides',
      '/lighthouse',
      '/private/ledger',
      '/private/keys',
    ]),
    ...numbered(BOATS, (number) =>
      html(`/boats/${number}`, `Boat ${number}`, 'Moored since spring.', ['/', '/tides']),
    ),
    html('/tides', 'Tide table', 'In and out, twice a day.', ['/', '//observatory/log']),
    html('/lighthouse', 'The lighthouse', 'One turn takes half a second. This page is slow.', ['/'], {
      slowMs: 500,
    }),
    html('/private/ledger', 'Ledger', 'robots.txt asks crawlers to leave this alone.', ['/private/vault']),
    html('/private/keys', 'Keys', 'This as well.', ['/']),
  ],
};

const post: DemoHost = {
  name: 'post',
  title: 'The Post Office',
  emblem: '✉️',
  colour: '#8a3b4a',
  robots: OPEN_TO_ALL,
  pages: [
    html('/', 'The Post Office', 'Letters to every other host of this little web.', [
      '/letters/1',
      '/counter',
      '/returned',
      '//garden/',
      '//library/',
    ]),
    ...numbered(LETTERS, (number) =>
      html(`/letters/${number}`, `Letter ${number}`, 'Dear reader, please see the next letter.', [
        '/',
        number < LETTERS ? `/letters/${number + 1}` : '//bakery/today',
      ]),
    ),
    html('/counter', 'The counter', 'Please take a number.', ['/', '//harbour/tides']),
  ],
};

export const DEMO_HOSTS: readonly DemoHost[] = [garden, bakery, library, observatory, harbour, post];

export function hostName(name: string): string {
  return `${name}.${DEMO_DOMAIN}`;
}

export function seedUrls(port: number): string[] {
  return DEMO_HOSTS.map(({ name }) => `http://${hostName(name)}:${port}/`);
}

/** Entries for `--resolve`: the names exist nowhere else. */
export function resolveEntries(address: string): string[] {
  return DEMO_HOSTS.map(({ name }) => `${hostName(name)}:${address}`);
}

/** A link of the data as an absolute URL. */
export function absoluteLink(link: string, from: string, port: number): string {
  const match = /^\/\/([^/]+)(\/.*)$/.exec(link);
  const [name, path] = match ? [match[1] ?? from, match[2] ?? '/'] : [from, link];
  return `http://${hostName(name)}:${port}${path}`;
}
