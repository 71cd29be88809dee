export { readDirectives } from './directives.ts';
export { type FreshnessBounds, freshnessMs } from './freshness.ts';
export { hasRulesInBody, type RobotsResponse, readRobotsResponse } from './response.ts';
export { parseRobots, type RobotsAnswer, type RobotsRules, robotsUrl } from './rules.ts';
export { createRobotsRulesCache, type RobotsRulesCache } from './rules-cache.ts';
export { MAX_ROBOTS_BYTES } from './text.ts';
