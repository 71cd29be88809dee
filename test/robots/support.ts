import { parseRobots, type RobotsRules } from '../../src/robots/index.ts';

export const ORIGIN = 'http://example.org:8080';

export function rulesOf(text: string, token = 'Amble'): RobotsRules {
  return parseRobots(text, { origin: ORIGIN, token });
}

export function allowed(text: string, path: string, token = 'Amble'): boolean {
  return rulesOf(text, token).isAllowed(ORIGIN + path);
}

/** Whether a file with this single rule forbids the path. */
export function forbids(pattern: string, path: string): boolean {
  return !allowed(`User-agent: *\nDisallow: ${pattern}`, path);
}
