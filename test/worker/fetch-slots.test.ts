import { describe, expect, it } from 'vitest';
import { type FetchSlot, type FetchSlotRequest, FetchSlots } from '../../src/worker/fetch-slots.ts';

const SLOTS = 16;
const MAX_OPEN = 4;

class World {
  now = 0;
  readonly slots: FetchSlots;

  constructor(slots = SLOTS) {
    this.slots = new FetchSlots(slots, MAX_OPEN, () => this.now);
  }

  acquire(host: string, changed: Partial<FetchSlotRequest> = {}, signal = new AbortController().signal) {
    return this.slots.acquire(
      { host, site: host, concurrency: 1, addressBlock: null, ...changed },
      () => signal,
    );
  }

  /** Fails if it has to wait. */
  async take(host: string, changed: Partial<FetchSlotRequest> = {}): Promise<FetchSlot> {
    const slot = await Promise.race([this.acquire(host, changed), settled().then(() => null)]);
    if (slot === null) throw new Error(`${host} has to wait.`);
    return slot;
  }

  async prove(...hosts: string[]): Promise<void> {
    for (const host of hosts) (await this.take(host)).release(100);
  }

  async fillWithSilent(hosts: number, siteOf = (n: number) => `silent${n}.test`): Promise<FetchSlot[]> {
    const taken: FetchSlot[] = [];
    for (let n = 0; n < hosts; n += 1)
      void this.acquire(`silent${n}.test`, { site: siteOf(n) }).then((slot) => slot && taken.push(slot));
    await settled();
    return taken;
  }
}

const settled = () => new Promise(setImmediate);

/** The names of those that got a slot, in order. */
function granted(world: World, hosts: readonly (string | Partial<FetchSlotRequest>)[]): string[] {
  const order: string[] = [];
  for (const wanted of hosts) {
    const request = typeof wanted === 'string' ? { host: wanted } : wanted;
    const host = request.host ?? 'unnamed';
    void world.acquire(host, request).then((slot) => slot && order.push(host));
  }
  return order;
}

describe('fetch slots', () => {
  it('always have room for hosts that answer quickly, however many stay silent', async () => {
    const world = new World();
    await world.prove('quick.test');
    const silent = await world.fillWithSilent(500);
    expect(silent).toHaveLength(SLOTS / 2);
    await expect(world.take('quick.test')).resolves.toBeDefined();
  });

  it('always have room for a host that answers, however many sites with known hosts fall silent', async () => {
    const world = new World(200);
    const hosts = Array.from({ length: 8 * 25 }, (_, n) => ({
      host: `h${n}.test`,
      site: `evil${n % 8}.test`,
    }));
    await world.prove('honest.test', 'another.test', ...hosts.map(({ host }) => host));
    const taken = granted(world, hosts);
    await settled();
    await expect(world.take('honest.test')).resolves.toBeDefined();
    world.now += 5_000;
    await expect(world.take('another.test')).resolves.toBeDefined();
    // The rest is for hosts that are known to answer.
    expect(taken.length).toBeGreaterThanOrEqual(100);
    await expect(world.take('newcomer.test')).rejects.toThrow('has to wait');
  });

  it('are left over for others when sixty sites with known hosts take all they can', async () => {
    const world = new World(200);
    const hosts = Array.from({ length: 60 * 25 }, (_, n) => ({
      host: `h${n}.test`,
      site: `evil${n % 60}.test`,
    }));
    await world.prove(...hosts.map(({ host }) => host));
    const taken = granted(world, hosts);
    await settled();
    expect(taken.length).toBeLessThan(190);
  });

  it('let all pages in the window of a domain wait, however few slots there are', async () => {
    const world = new World(4);
    await world.prove('quick.test');
    const first = await world.take('quick.test');
    const waiting = Array.from({ length: 4 }, () => world.acquire('quick.test'));
    expect(await world.acquire('quick.test')).toBeNull();
    first.release(100);
    for (const next of waiting) {
      const slot = await next;
      expect(slot).not.toBeNull();
      slot?.release(100);
    }
  });

  it('count a host as quick again only long after a slow answer', async () => {
    const world = new World();
    await world.prove('turncoat.test');
    (await world.take('turncoat.test')).release(20_000);
    (await world.take('turncoat.test')).release(10);
    await world.fillWithSilent(500);
    await expect(world.take('turncoat.test')).rejects.toThrow('has to wait');
    world.now += 200_000;
    await expect(world.take('turncoat.test')).resolves.toBeDefined();
  });

  it('go to the site with the fewest open requests first', async () => {
    const world = new World();
    const hostile = await world.fillWithSilent(SLOTS / 2, (n) => `evil${n % 4}.test`);
    const order = granted(world, [
      { host: 'more.evil0.test', site: 'evil0.test' },
      { host: 'more.evil1.test', site: 'evil1.test' },
      'newcomer.test',
    ]);
    hostile[0]?.release(null);
    await settled();
    expect(order).toEqual(['newcomer.test']);
  });

  it('give one site an eighth, or as many as its crawl allows on one host', async () => {
    const world = new World();
    await world.prove('a.big.test', 'own.test');
    const site = { site: 'big.test' };
    await world.take('a.big.test', site);
    await world.take('a.big.test', site);
    await expect(world.take('a.big.test', site)).rejects.toThrow('has to wait');
    const own = { site: 'own.test', concurrency: 3 };
    for (let n = 0; n < 3; n += 1) await world.take('own.test', own);
    await expect(world.take('own.test', own)).rejects.toThrow('has to wait');
  });

  it('keep the limit of an address, whatever names point there', async () => {
    const world = new World();
    const victim = { addressBlock: '192.0.2.1' };
    const names = Array.from({ length: MAX_OPEN }, (_, n) => `name${n}.test`);
    await world.prove(...names, 'another.test');
    for (const name of names) await world.take(name, victim);
    await expect(world.take('another.test', victim)).rejects.toThrow('has to wait');
    await expect(world.take('another.test')).resolves.toBeDefined();
  });

  it('leave half of a shared address to others, however many names of one site are served there', async () => {
    const world = new World(200);
    const shared = { addressBlock: '192.0.2.1' };
    const names = Array.from({ length: 20 }, (_, n) => ({
      host: `n${n}.evil.test`,
      site: 'evil.test',
      ...shared,
    }));
    await world.prove('honest.test', ...names.map(({ host }) => host));
    const taken = granted(world, names);
    await settled();
    expect(taken).toHaveLength(MAX_OPEN / 2);
    await expect(world.take('honest.test', shared)).resolves.toBeDefined();
  });

  it('leave half of a shared address to hosts that answer quickly, however many sites are silent there', async () => {
    const world = new World(200);
    const shared = { addressBlock: '192.0.2.1' };
    await world.prove('honest.test');
    const taken = granted(
      world,
      Array.from({ length: 20 }, (_, n) => ({ host: `evil${n}.test`, ...shared })),
    );
    await settled();
    expect(taken).toHaveLength(MAX_OPEN / 2);
    await expect(world.take('honest.test', shared)).resolves.toBeDefined();
  });

  it('let a crawl have as many requests at an address as its operator allows on one host', async () => {
    const world = new World(200);
    const own = { addressBlock: '192.0.2.1', concurrency: MAX_OPEN };
    await world.prove('own.test');
    for (let n = 0; n < MAX_OPEN; n += 1) await world.take('own.test', own);
    await expect(world.take('own.test', own)).rejects.toThrow('has to wait');
  });

  it('are waited for by a bounded number at one address, and the largest site there gives way', async () => {
    const world = new World();
    const shared = { addressBlock: '192.0.2.1' };
    const hosts = Array.from({ length: MAX_OPEN / 2 + SLOTS }, (_, n) => ({
      ...{ host: `n${n}.evil${n % 5}.test`, site: `evil${n % 5}.test`, ...shared },
    }));
    const refused: string[] = [];
    for (const one of hosts)
      void world.acquire(one.host, one).then((slot) => slot === null && refused.push(one.host));
    await settled();
    expect(refused).toHaveLength(SLOTS / 2);
    void world
      .acquire('newcomer.test', shared)
      .then((slot) => slot === null && refused.push('newcomer.test'));
    await settled();
    expect(refused).toHaveLength(SLOTS / 2 + 1);
    expect(refused).not.toContain('newcomer.test');
  });

  it('are passed on when they are released, and by a request that no longer waits', async () => {
    const world = new World();
    const [first] = await world.fillWithSilent(SLOTS / 2);
    const abandoned = new AbortController();
    const waiting = world.acquire('gone.test', {}, abandoned.signal);
    const next = world.acquire('next.test');
    abandoned.abort(new Error('the lease has ended'));
    await expect(waiting).rejects.toThrow('the lease has ended');
    first?.release(null);
    await expect(next).resolves.not.toBeNull();
  });

  it('are refused at once to a site that has too many waiting', async () => {
    const world = new World();
    await world.fillWithSilent(SLOTS / 2);
    const site = { site: 'evil.test' };
    for (let n = 0; n < SLOTS / 4; n += 1) void world.acquire(`name${n}.evil.test`, site);
    await expect(world.acquire('one-more.evil.test', site)).resolves.toBeNull();
    await expect(world.take('another.test')).rejects.toThrow('has to wait');
  });

  it('are waited for by fewer requests of the largest site when another one comes', async () => {
    const world = new World();
    await world.fillWithSilent(SLOTS / 2);
    const waiting = Array.from({ length: 2 * SLOTS }, (_, n) =>
      world.acquire(`name${n}.test`, { site: `evil${n % 10}.test` }),
    );
    const newcomer = world.acquire('newcomer.test');
    const refused = await Promise.race([Promise.any(waiting), newcomer, settled().then(() => 'nothing')]);
    expect(refused).toBeNull();
    await expect(Promise.race([newcomer, settled().then(() => 'it waits')])).resolves.toBe('it waits');
  });

  it('are refused at once when too many slow hosts wait', async () => {
    const world = new World();
    await world.prove('quick.test');
    await world.fillWithSilent(SLOTS / 2 + 2 * SLOTS);
    await expect(world.acquire('newcomer.test')).resolves.toBeNull();
    await expect(world.take('quick.test')).resolves.toBeDefined();
  });
});
