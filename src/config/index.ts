/** Configuration: one schema, four sources, sentences for what is wrong. */
export { BadInput } from './bad-input.ts';
export { type CrawlGround, type CrawlRequest, parseCrawlInput, writeCrawlInput } from './crawl-input.ts';
export { formatDelayRange, formatDuration, parseDelayRange, parseDuration } from './duration.ts';
export { CONFIG_KEYS, type ConfigKey } from './keys.ts';
export { type ConfigSources, loadConfig } from './load.ts';
export { PRESET_NAMES } from './presets.ts';
export type { AmbleConfig, LogLevel, RobotsConfig } from './schema.ts';
