import { expect, it } from 'vitest';
import { crawlLink } from '../../workflows/labels.ts';

const labels = { searchAttributes: true, dashboardUrl: 'https://crawls.example' };

it('a link to the dashboard is whole whatever the name of its crawl is', () => {
  expect(crawlLink(labels, 'news (a]b)')).toBe(
    '[In the dashboard](https://crawls.example/crawls/news%20%28a%5Db%29)',
  );
});

it('there is no link without a dashboard', () => {
  expect(crawlLink({ ...labels, dashboardUrl: null }, 'news')).toBeNull();
});
