export { readDirectives } from './directives.ts';
export {
  type FreshnessBounds,
  freshnessMs,
  hasRulesInBody,
  MAX_ROBOTS_BYTES,
  type RobotsResponse,
  readRobotsResponse,
} from './response.ts';
export {
  createRobotsRulesCache,
  parseRobots,
  type RobotsAnswer,
  type RobotsRules,
  type RobotsRulesCache,
  robotsUrl,
  rulesFor,
} from './rules.ts';
