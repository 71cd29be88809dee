export { parseRobots, type RobotsRules, robotsUrl } from './rules.ts';
export { MAX_ROBOTS_BYTES, ROBOTS_LIFETIME_MS, type RobotsVerdict, robotsVerdict } from './verdict.ts';
