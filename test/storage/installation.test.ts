import { expect, test } from 'vitest';
import { BadInput } from '../../src/core/errors.ts';
import { claimPolitenessKey } from '../../src/storage/installation.ts';
import { useDatabase } from './support.ts';

const db = useDatabase();

test('of two first starts with different politeness keys, one is refused', async () => {
  const starts = await Promise.allSettled([
    claimPolitenessKey(db(), 'host'),
    claimPolitenessKey(db(), 'site'),
  ]);
  const refusals = starts.flatMap((start) => (start.status === 'rejected' ? [start.reason] : []));
  expect(refusals).toEqual([expect.any(BadInput)]);
  expect(await db().installation.count()).toBe(1);
});

test('a start with another politeness key is refused in a sentence that names the setting and the stored key', async () => {
  await db().installation.deleteMany();
  await claimPolitenessKey(db(), 'host');
  await expect(claimPolitenessKey(db(), 'site')).rejects.toThrow(
    'politenessKey is set to "site", but this database was set up with "host": set politenessKey (AMBLE_POLITENESS_KEY) back to "host", or use another database.',
  );
});

test('a start with the same politeness key changes nothing', async () => {
  await db().installation.deleteMany();
  await claimPolitenessKey(db(), 'site');
  const [first] = await db().installation.findMany();
  await claimPolitenessKey(db(), 'site');
  expect(await db().installation.findMany()).toEqual([first]);
});
