import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type AddressReservation, endRequests, reserveAddress } from '../../src/storage/address-blocks.ts';
import { useDatabase } from './support.ts';

const db = useDatabase();

const HOUR_MS = 3_600_000;

function reservation(block: string, changed: Partial<AddressReservation> = {}): AddressReservation {
  return {
    block,
    leaseId: randomUUID(),
    windowMs: 100,
    gapMs: 250,
    maxOpen: 100,
    latestMs: HOUR_MS,
    openForMs: HOUR_MS,
    ended: [],
    ...changed,
  };
}

const reserve = (block: string, changed: Partial<AddressReservation> = {}) =>
  reserveAddress(db(), reservation(block, changed));

const freeAt = async (block: string) =>
  (await db().addressBlock.findUniqueOrThrow({ where: { block } })).freeAt.getTime();

describe('a turn at an address', () => {
  it('comes at once if the address is free', async () => {
    expect(await reserve('192.0.2.1')).toBe(0);
  });

  it('comes after the window and the gap of the one before, however many ask at once', async () => {
    const [clock] = await db().$queryRaw<{ now: Date }[]>`SELECT clock_timestamp() AS now`;
    await Promise.all(Array.from({ length: 10 }, () => reserve('192.0.2.2')));
    // Each turn begins where the one before has ended, so together they take this long.
    const takenMs = (await freeAt('192.0.2.2')) - (clock?.now.getTime() ?? Number.NaN);
    expect(takenMs).toBeGreaterThanOrEqual(10 * 350);
  });

  it('is refused if it would come too late, and then costs the others nothing', async () => {
    await reserve('192.0.2.4', { gapMs: HOUR_MS / 2 });
    const before = await freeAt('192.0.2.4');
    expect(await reserve('192.0.2.4', { latestMs: 5_000 })).toBeNull();
    expect(await freeAt('192.0.2.4')).toBe(before);
  });

  it('of one address does not delay another', async () => {
    await reserve('2001:db8::/64', { gapMs: HOUR_MS / 2 });
    expect(await reserve('2001:db8:0:1::/64')).toBe(0);
  });
});

describe('the places at an address', () => {
  it('are taken until their requests have ended', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const two = { maxOpen: 2 };
    expect(await reserve('192.0.2.5', { ...two, leaseId: first })).not.toBeNull();
    expect(await reserve('192.0.2.5', { ...two, leaseId: second })).not.toBeNull();
    expect(await reserve('192.0.2.5', two)).toBeNull();
    await endRequests(db(), [
      { block: '192.0.2.5', leaseId: first },
      { block: '192.0.2.99', leaseId: second },
    ]);
    expect(await reserve('192.0.2.5', two)).not.toBeNull();
    expect(await reserve('192.0.2.5', two)).toBeNull();
    expect(await reserve('192.0.2.5', { ...two, ended: [second] })).not.toBeNull();
  });

  it('become free without a report when the request has ended for certain', async () => {
    await reserve('192.0.2.6', { maxOpen: 1, openForMs: 1 });
    await expect.poll(() => reserve('192.0.2.6', { maxOpen: 1 })).not.toBeNull();
    expect(await reserve('192.0.2.6', { maxOpen: 1 })).toBeNull();
  });

  it('are counted once for a lease that reserves again', async () => {
    const leaseId = randomUUID();
    await reserve('192.0.2.7', { maxOpen: 1, leaseId });
    expect(await reserve('192.0.2.7', { maxOpen: 1, leaseId })).not.toBeNull();
  });

  it('are never more than allowed, however many ask at once', async () => {
    const asked = await Promise.all(Array.from({ length: 30 }, () => reserve('192.0.2.8', { maxOpen: 8 })));
    expect(asked.filter((waitMs) => waitMs !== null)).toHaveLength(8);
  });
});
