export { readDirectives } from './directives.ts';
export { type FreshBounds, freshForMs } from './freshness.ts';
export { parseRobots, type RobotsAnswer, type RobotsRules, robotsUrl } from './rules.ts';
export { createRobotsRulesCache, type RobotsRulesCache } from './rules-cache.ts';
export { MAX_ROBOTS_BYTES } from './text.ts';
export { type RobotsVerdict, robotsVerdict, statesRules } from './verdict.ts';
