import { expect, test } from 'vitest';
import { growthChartEnd } from '../../src/server/html/charts.tsx';

const at = (minute: number) => new Date(60_000 * minute);

test.each([
  ['with the present, without a projection', null, 10],
  ['with the projected end', at(15), 15],
  ['after twice the time that has passed, if the end is further away', at(500), 20],
])('the chart of a crawl ends %s', (_when, endsAt, minute) => {
  expect(growthChartEnd(at(0), at(10), endsAt)).toEqual(at(minute));
});
