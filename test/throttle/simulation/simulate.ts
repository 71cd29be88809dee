/** One run: pages of a few crawls on one domain, two machines, faults for a while, then none until all pages are done. */

import type { Ask, DelayRange, ThrottleConfig } from '../../../src/core/slot-protocol.ts';
import { pause, reset, resume, setDelay } from '../../../src/throttle/index.ts';
import { Admission } from './admission.ts';
import { Wire } from './fetching.ts';
import { type Checks, Host } from './host.ts';
import { Machine } from './machine.ts';
import { Page } from './page.ts';
import { ORIGINS, Site } from './site.ts';
import { Store } from './store.ts';
import { World } from './world.ts';

export interface Scenario {
  seed: number;
  crawls: Array<{
    delay: DelayRange;
    concurrency: number;
    targetConcurrency: Ask['targetConcurrency'];
    pages: number;
  }>;
  troubleMs: number;
  /** Mean time between two faults. */
  faultIntervalMs: number;
  /** Part of the pages that ask for the next slot. */
  atFront: number;
  /** Part of the responses that take as long as they may. */
  slowResponses: number;
  /** Longest time of the other responses. */
  usualResponseMs: number;
  /** How long it takes to connect to the site. */
  connectingMs: number;
  config: ThrottleConfig;
}

const MAX_ADMITTED = 4;

/** More than a run needs that ends at all. */
const MAX_EVENTS = 100_000;

export interface Run {
  host: Host;
  wire: Wire;
  pages: Page[];
  allDone: boolean;
}

export function simulate(scenario: Scenario, checks: Checks): Run {
  const world = new World(scenario.seed, scenario.troubleMs);
  const store = new Store(world);
  const host = new Host(world, store, scenario.config, checks);
  const site = new Site(world, scenario.connectingMs, scenario.slowResponses, scenario.usualResponseMs);
  const wire = new Wire(world, host, store, site);
  const machines: [Machine, Machine] = [new Machine(world, true), new Machine(world, false)];
  const pages = scenario.crawls.flatMap(({ pages, ...settings }, crawl) =>
    Array.from({ length: pages }, (_, n) => {
      const names = { workflowId: `page-${crawl}-${n}`, crawlId: `crawl-${crawl}` };
      const atFront = world.chance(scenario.atFront);
      const origin = world.oneOf(...ORIGINS);
      const asked = { ...names, ...settings, origin, atFront, maxFetchMs: 10_000 };
      return new Page(world, host, wire, machines, asked);
    }),
  );
  for (const [n, group] of groupsOf(world, pages).entries()) {
    const admission = new Admission(world, host, machines, `admission-${n}`, group);
    world.after(world.between(0, scenario.troubleMs), () => {
      if (world.chance(0.7)) admission.run();
      else for (const page of group) page.wantSlot();
    });
  }

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
    () => host.operate((state) => reset(state, world.serverNow)),
    () => pages[Math.floor(world.random() * pages.length)]?.leave(),
    () => world.chance(0.3) && host.terminate(),
    () => store.away(world.between(100, 20_000)),
    () => store.cutOff(world.oneOf(...machines), world.between(1_000, 30_000)),
    () => store.cutOff(world.oneOf(...machines), world.between(1_000, 30_000)),
  ];
  const injectFault = () => {
    if (world.calm) {
      if (host.state?.paused) host.operate(resume);
    } else faults[Math.floor(world.random() * faults.length)]?.();
    world.after(world.calm ? 60_000 : world.between(0, 2 * scenario.faultIntervalMs), injectFault);
  };
  injectFault();
  const allDone = world.run(() => world.calm && pages.every((page) => page.closed), MAX_EVENTS);
  return { host, wire, pages, allDone };
}

/** Pages that are admitted together. */
function groupsOf(world: World, pages: readonly Page[]): Page[][] {
  const groups: Page[][] = [];
  for (const page of pages) {
    const group = groups.at(-1);
    if (group && group.length < MAX_ADMITTED && world.chance(0.6)) group.push(page);
    else groups.push([page]);
  }
  return groups;
}
