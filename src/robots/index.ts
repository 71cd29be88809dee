export { readDirectives } from './directives.ts';
export { type FreshBounds, freshForMs } from './freshness.ts';
export { ParsedRules } from './parsed-rules.ts';
export { parseRobots, type RobotsRules, robotsUrl } from './rules.ts';
export { MAX_ROBOTS_BYTES } from './text.ts';
export { type RobotsVerdict, robotsVerdict, statesRules } from './verdict.ts';
