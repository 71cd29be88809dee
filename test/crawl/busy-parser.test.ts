/** A document that finds too many others waiting to be parsed comes again later, and is none the worse for it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TooManyWaitingError } from '../../src/html/index.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { startWeb, type TestWeb } from '../support/web.ts';

let amble: Amble;
let web: TestWeb;
let tries = 0;
beforeAll(async () => {
  amble = await startAmble({}, undefined, undefined, (deps) => ({
    ...deps,
    parse: async (...args) => {
      tries += 1;
      if (tries === 1) throw new TooManyWaitingError('too many wait');
      return deps.parse(...args);
    },
  }));
  web = await startWeb({ site: () => ({ body: '<title>Patient</title>' }) });
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

test('a document for which the parser has no place is parsed later, without another request', async () => {
  const { pages } = await amble.crawl({ seeds: [web.url('site')], ...web.network });
  expect(pages).toMatchObject({ Fetched: 1 });
  expect(tries).toBe(2);
  expect(web.arrivalsAt('site', '/')).toHaveLength(1);
  expect(await amble.db.page.findFirst({ select: { title: true } })).toEqual({ title: 'Patient' });
});
