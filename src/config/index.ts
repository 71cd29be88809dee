/** Configuration: one schema, four sources, sentences for what is wrong. */
export { BadInput } from '../core/bad-input.ts';
export {
  formatDelayRange,
  parseDelayRange,
  parseDuration,
  serializeDuration as formatDuration,
} from '../core/duration.ts';
export { type CrawlGround, type CrawlRequest, parseCrawlInput, writeCrawlInput } from './crawl-input.ts';
export { CONFIG_KEYS, type ConfigKey } from './keys.ts';
export { type ConfigSources, loadConfig } from './load.ts';
export { PRESET_NAMES } from './presets.ts';
export type { AmbleConfig, LogLevel, RobotsConfig } from './schema.ts';
