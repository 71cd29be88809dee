/** One run: pages of a few crawls on one domain, two machines, faults for a while, then none until all pages are done. */

import type { Ask, DelayRange, ThrottleConfig } from '../../../src/core/slot-protocol.ts';
import { pause, reset, resume, setDelay } from '../../../src/throttle/index.ts';
import { Wire } from './fetching.ts';
import { type GrantCheck, Host } from './host.ts';
import { Machine } from './machine.ts';
import { Page } from './page.ts';
import { ORIGINS, Site } from './site.ts';
import { World } from './world.ts';

export interface Scenario {
  seed: number;
  crawls: Array<{
    delay: DelayRange;
    priority: number;
    concurrency: number;
    targetConcurrency: Ask['targetConcurrency'];
    pages: number;
  }>;
  troubleMs: number;
  /** Mean time between two faults. */
  faultIntervalMs: number;
  /** How long it takes to connect to the site. */
  connectingMs: number;
  config: ThrottleConfig;
}

/** More than a run needs that ends at all. */
const MAX_EVENTS = 100_000;

export interface Run {
  host: Host;
  wire: Wire;
  allDone: boolean;
}

export function simulate(scenario: Scenario, check: (wire: Wire) => GrantCheck): Run {
  const world = new World(scenario.seed, scenario.troubleMs);
  const host: Host = new Host(world, scenario.config, (state, granted) => check(wire)(state, granted));
  const site = new Site(world, scenario.connectingMs);
  const wire = new Wire(world, host, site);
  const machines: [Machine, Machine] = [new Machine(world, true), new Machine(world, false)];
  const pages = scenario.crawls.flatMap(({ pages, ...settings }, crawl) =>
    Array.from({ length: pages }, (_, n) => {
      const names = { workflowId: `page-${crawl}-${n}`, crawlId: `crawl-${crawl}` };
      const atFront = world.chance(0.1);
      const origin = world.oneOf(...ORIGINS);
      const asked = { ...names, ...settings, origin, atFront, maxFetchMs: 10_000 };
      return new Page(world, host, wire, machines, asked);
    }),
  );
  for (const page of pages) world.after(world.between(0, scenario.troubleMs), () => page.wantSlot());

  const faults = [
    () => world.oneOf(...machines).freeze(world.between(50, 1_000)),
    () => world.oneOf(...machines).freeze(world.between(1_000, 60_000)),
    () => world.oneOf(...machines).crash(),
    () => machines[1].setWallClock(),
    () => host.continueAsNew(),
    () => host.continueAsNew(),
    () => site.change(),
    () => site.change(),
    () => host.operate(pause),
    () => host.operate(resume),
    () => host.operate((state) => setDelay(state, null)),
    () => host.operate((state) => setDelay(state, { minMs: 500, maxMs: world.between(500, 5_000) })),
    () => host.operate(reset),
    () => pages[Math.floor(world.random() * pages.length)]?.leave(),
    () => world.chance(0.3) && host.terminate(),
  ];
  const injectFault = () => {
    if (world.calm) host.operate(resume);
    else faults[Math.floor(world.random() * faults.length)]?.();
    world.after(world.calm ? 60_000 : world.between(0, 2 * scenario.faultIntervalMs), injectFault);
  };
  injectFault();
  const allDone = world.run(() => world.calm && pages.every((page) => page.closed), MAX_EVENTS);
  return { host, wire, allDone };
}
