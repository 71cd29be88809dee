export { parseRobots, type RobotsRules, robotsUrl } from './rules.ts';
export { MAX_ROBOTS_BYTES, type RobotsVerdict, robotsVerdict } from './verdict.ts';
