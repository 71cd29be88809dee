/** Configuration: one schema, four sources, and errors that name the source. */
export { BadInput } from '../core/errors.ts';
export { type CrawlContext, type CrawlRequest, createCrawlInput, parseCrawlInput } from './crawl-input.ts';
export { type ConfigSources, loadConfig } from './load.ts';
export { PRESET_NAMES, type PresetName } from './presets.ts';
export { type AmbleConfig, CONFIG_KEYS, type ConfigKey, type LogLevel, type RobotsConfig } from './schema.ts';
export type { TuningChanges } from './tuning.ts';
