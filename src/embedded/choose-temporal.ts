/** Which Temporal server is used: the one that is named, one that runs already, or one of this home. */
import { existsSync } from 'node:fs';
import { isRunning } from './engine.ts';
import { type Home, homeAt } from './home.ts';
import { ensureTemporal, findEmbeddedTemporal, type TemporalServer, temporalEngine } from './temporal.ts';
import { probeTemporal } from './temporal-probe.ts';

export interface TemporalSettings {
  /** Directory for the data, logs and password of embedded engines. */
  home: string;
  /** A Temporal server to use; unset: that of this home if it ever had one, else one at `defaultAddress`, else a new one. */
  temporalAddress?: string;
  /** `default` unless set. */
  temporalNamespace?: string;
  /** Path of the Temporal CLI; unset: looked for, else fetched. */
  temporalBinary?: string;
  /** Where a server is looked for that somebody else runs; `localhost:7233` unless set. */
  defaultAddress?: string;
  /** Do not look there: for tests and the demo, which must not meet other people's workflows. */
  isolated?: boolean;
  /** Progress for a person, a line at a time. */
  notify(line: string): void;
}

const DEFAULT_ADDRESS = 'localhost:7233';

export async function chooseTemporal(home: Home, options: TemporalSettings): Promise<TemporalServer> {
  const namespace = namespaceOf(options);
  const { temporalAddress, defaultAddress: address = DEFAULT_ADDRESS } = options;
  if (temporalAddress !== undefined) return requireTemporal(temporalAddress, options);
  if (options.isolated) return ensureEmbeddedTemporal(home, options);
  const ours = hasTemporalData(home) || (await isRunning(temporalEngine(home)));
  const serves = (await probeTemporal(address, namespace)) === 'serving';
  if (serves && !ours) return { address, namespace, uiUrl: null, embedded: false };
  const embedded = await ensureEmbeddedTemporal(home, options);
  if (serves && portOf(address) !== portOf(embedded.address))
    options.notify(
      `The Temporal server at ${address} is not used, because ${home.directory} has one of its own, at ${embedded.address}, with its crawls: to use the other, set TEMPORAL_ADDRESS=${address}.`,
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
 * Crawls and throttles of this home are in its database, whether its server runs or not. Begun a second time on another
 * server they would ask the same sites beside the first ones.
 */
function hasTemporalData(home: Home): boolean {
  return existsSync(home.temporal.database);
}

export async function requireTemporal(
  address: string,
  wishes: Pick<TemporalSettings, 'temporalNamespace'>,
): Promise<TemporalServer> {
  const namespace = namespaceOf(wishes);
  switch (await probeTemporal(address, namespace)) {
    case 'serving':
      return { address, namespace, uiUrl: null, embedded: false };
    case 'namespace-missing':
      throw new Error(
        `The Temporal server at ${address} has no namespace "${namespace}": make it with \`temporal operator namespace create\`, or set TEMPORAL_NAMESPACE to one it has.`,
      );
    case 'unreachable':
      throw new Error(
        `No Temporal server answers at ${address}: start one there, or unset TEMPORAL_ADDRESS to have Amble start its own.`,
      );
  }
}

function namespaceOf({ temporalNamespace }: Pick<TemporalSettings, 'temporalNamespace'>): string {
  return temporalNamespace ?? 'default';
}

/** The Temporal server that startEngines would join, for those who only want to ask it; null: none runs. */
export async function findTemporal(
  options: Pick<TemporalSettings, 'home' | 'temporalAddress' | 'temporalNamespace' | 'defaultAddress'>,
): Promise<TemporalServer | null> {
  const namespace = namespaceOf(options);
  const { temporalAddress, defaultAddress = DEFAULT_ADDRESS } = options;
  const home = homeAt(options.home);
  if (temporalAddress === undefined && hasTemporalData(home)) return findEmbeddedTemporal(home, namespace);
  const address = temporalAddress ?? defaultAddress;
  return (await probeTemporal(address, namespace)) === 'serving'
    ? { address, namespace, uiUrl: null, embedded: false }
    : null;
}
