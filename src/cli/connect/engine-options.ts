/** From the configuration to the engines it names. Apart from sessions, which load all that a worker needs. */
import type { AmbleConfig } from '../../config/index.ts';
import type { EngineOptions } from '../../embedded/index.ts';

export function engineOptions(config: AmbleConfig, say: (line: string) => void): EngineOptions {
  return {
    home: config.home,
    temporalNamespace: config.temporalNamespace,
    ...(config.temporalAddress !== null && { temporalAddress: config.temporalAddress }),
    ...(config.temporalBinary !== null && { temporalBinary: config.temporalBinary }),
    ...(config.databaseUrl !== null && { databaseUrl: config.databaseUrl }),
    notify: say,
  };
}
