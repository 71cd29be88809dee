/** Chooses the Temporal server: the configured one, one that is already running, or this home's embedded one. */
import { existsSync } from 'node:fs';
import type { TemporalAccess, TemporalTarget } from '../temporal/access.ts';
import { probeTemporal } from '../temporal/probe.ts';
import { isRunning } from './engine.ts';
import { type Home, homeAt } from './home.ts';
import { ensureTemporal, findEmbeddedTemporal, type TemporalServer, temporalEngine } from './temporal.ts';

export interface TemporalSettings {
  /** Directory for the data, logs and password of the embedded engines. */
  home: string;
  /** Unset: this home's server if it has data, otherwise one at `defaultAddress`, otherwise a new one. */
  temporalAddress?: string;
  /** `default` unless set. */
  temporalNamespace?: string;
  /** How to reach `temporalAddress`; unset: without TLS and without an API key. */
  temporalAccess?: TemporalAccess;
  /** The Web UI of a server that is not Amble's; null or unset: not known. */
  temporalUiUrl?: string | null;
  /** Path of the Temporal CLI; unset: the one on PATH, otherwise downloaded or built. */
  temporalBinary?: string;
  /** Where to look for a server that is not Amble's; `localhost:7233` unless set. */
  defaultAddress?: string;
  /** Do not look for one: tests and the demo must not share a server with other workflows. */
  isolated?: boolean;
  /** Shows one line of progress to the user. */
  notify(message: string): void;
}

const DEFAULT_ADDRESS = 'localhost:7233';

export async function chooseTemporal(home: Home, options: TemporalSettings): Promise<TemporalServer> {
  const namespace = namespaceOf(options);
  const { temporalAddress, defaultAddress: address = DEFAULT_ADDRESS } = options;
  if (temporalAddress !== undefined) return requireTemporal(temporalAddress, options);
  if (options.isolated) return ensureEmbeddedTemporal(home, options);
  const ours = hasTemporalData(home) || (await isRunning(temporalEngine(home)));
  const probed = await probeTemporal({ address, namespace });
  const serves = probed === 'serving';
  // Somebody who set only TEMPORAL_NAMESPACE may have meant that server.
  if (!ours && typeof probed === 'object')
    options.notify(`${probed.misconfigured} Amble uses a server of its own meanwhile.`);
  if (serves && !ours) return external({ address, namespace }, options);
  const embedded = await ensureEmbeddedTemporal(home, options);
  if (serves && portOf(address) !== portOf(embedded.address))
    options.notify(
      `Using the embedded Temporal server at ${embedded.address}, which has the crawls of ${home.directory}, and not the one at ${address}. To use that one, set TEMPORAL_ADDRESS=${address}.`,
    );
  return embedded;
}

function portOf(address: string): string {
  return new URL(`tcp://${address}`).port;
}

export function ensureEmbeddedTemporal(home: Home, options: TemporalSettings): Promise<TemporalServer> {
  const { temporalBinary: binary, notify } = options;
  return ensureTemporal(home, { namespace: namespaceOf(options), binary, notify });
}

/**
 * This home's crawls and throttles are in that database even while its server is down. If another server started them too,
 * sites would get requests from both.
 */
function hasTemporalData(home: Home): boolean {
  return existsSync(home.temporal.database);
}

type ExternalSettings = Pick<TemporalSettings, 'temporalNamespace' | 'temporalAccess' | 'temporalUiUrl'>;

export async function requireTemporal(address: string, settings: ExternalSettings): Promise<TemporalServer> {
  const server = await joinTemporal(address, settings);
  if (server !== null) return server;
  throw new Error(
    `No Temporal server answers at ${address}. Start one there, or unset TEMPORAL_ADDRESS to let Amble start its own.`,
  );
}

/** null: no server answers. Throws if one answers that does not let us in. */
async function joinTemporal(address: string, settings: ExternalSettings): Promise<TemporalServer | null> {
  const { temporalAccess: access } = settings;
  const target = { address, namespace: namespaceOf(settings), ...(access && { access }) };
  const probed = await probeTemporal(target);
  if (probed === 'serving') return external(target, settings);
  if (probed === 'unreachable') return null;
  throw new Error(probed.misconfigured);
}

function external(target: TemporalTarget, { temporalUiUrl = null }: ExternalSettings): TemporalServer {
  return { ...target, uiUrl: temporalUiUrl, embedded: false };
}

function namespaceOf({ temporalNamespace }: Pick<TemporalSettings, 'temporalNamespace'>): string {
  return temporalNamespace ?? 'default';
}

/** The Temporal server that `startEngines` would join; null if none is running. Starts nothing. */
export async function findTemporal(
  options: Omit<TemporalSettings, 'temporalBinary' | 'isolated' | 'notify'>,
): Promise<TemporalServer | null> {
  const { temporalAddress, defaultAddress: address = DEFAULT_ADDRESS } = options;
  if (temporalAddress !== undefined) return joinTemporal(temporalAddress, options);
  const namespace = namespaceOf(options);
  const home = homeAt(options.home);
  if (hasTemporalData(home)) return findEmbeddedTemporal(home, namespace);
  return (await probeTemporal({ address, namespace })) === 'serving'
    ? external({ address, namespace }, options)
    : null;
}
