/** Configuration: one schema, four sources, and errors that name the source. */
export { BadInput } from '../core/errors.ts';
export { CONFIG_KEYS, type ConfigKey } from './config-keys.ts';
export {
  type CrawlContext,
  type CrawlRequest,
  createCrawlInput,
  parseCrawlInput,
  withCrawlDefaults,
} from './crawl-input.ts';
export { crawlShape } from './crawl-schema.ts';
export { type ConfigSources, loadConfig } from './load.ts';
export { PRESET_NAMES, type PresetName } from './presets.ts';
export type { AmbleConfig, LogLevel, RobotsConfig } from './schema.ts';
export type { TuningChanges } from './tuning.ts';
export type { ListenAddress } from './values.ts';
