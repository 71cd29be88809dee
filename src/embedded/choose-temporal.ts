/** Which Temporal server is used: the one that is named, one that runs already, or one of this home. */
import { existsSync } from 'node:fs';
import { isRunning } from './engine.ts';
import { type Home, homeAt } from './home.ts';
import { ensureTemporal, findEmbedded, type TemporalServer, temporalEngine } from './temporal.ts';
import { probeTemporal } from './temporal-probe.ts';

export interface TemporalWishes {
  /** Directory for the data, logs and password of embedded engines. */
  home: string;
  /** A Temporal server to use; unset: that of this home if it ever had one, else one at `usualAddress`, else a new one. */
  temporalAddress?: string;
  /** `default` unless set. */
  temporalNamespace?: string;
  /** Path of the Temporal CLI; unset: looked for, else fetched. */
  temporalBinary?: string;
  /** Where a server is looked for that somebody else runs; `localhost:7233` unless set. */
  usualAddress?: string;
  /** Do not look there: for tests and the demo, which must not meet other people's workflows. */
  isolated?: boolean;
  /** Progress for a person, a line at a time. */
  say(line: string): void;
}

const USUAL_ADDRESS = 'localhost:7233';

export async function chooseTemporal(home: Home, options: TemporalWishes): Promise<TemporalServer> {
  const namespace = namespaceOf(options);
  const { temporalAddress, usualAddress: address = USUAL_ADDRESS } = options;
  if (temporalAddress !== undefined) return givenTemporal(temporalAddress, options);
  if (options.isolated) return ensureEmbedded(home, options);
  const ours = hadTemporal(home) || (await isRunning(temporalEngine(home)));
  const serves = (await probeTemporal(address, namespace)) === 'serves';
  if (serves && !ours) return { address, namespace, uiUrl: null, embedded: false };
  const embedded = await ensureEmbedded(home, options);
  if (serves && portOf(address) !== portOf(embedded.address))
    options.say(
      `The Temporal server at ${address} is not used, because ${home.directory} has one of its own, at ${embedded.address}, with its crawls: to use the other, set TEMPORAL_ADDRESS=${address}.`,
    );
  return embedded;
}

function portOf(address: string): string {
  return new URL(`tcp://${address}`).port;
}

export function ensureEmbedded(home: Home, options: TemporalWishes): Promise<TemporalServer> {
  const { temporalBinary: binary, say } = options;
  return ensureTemporal(home, { namespace: namespaceOf(options), binary, say });
}

/**
 * Crawls and throttles of this home are in its database, whether its server runs or not. Begun a second time on another
 * server they would ask the same sites beside the first ones.
 */
function hadTemporal(home: Home): boolean {
  return existsSync(home.temporal.database);
}

export async function givenTemporal(
  address: string,
  wishes: Pick<TemporalWishes, 'temporalNamespace'>,
): Promise<TemporalServer> {
  const namespace = namespaceOf(wishes);
  switch (await probeTemporal(address, namespace)) {
    case 'serves':
      return { address, namespace, uiUrl: null, embedded: false };
    case 'no-namespace':
      throw new Error(
        `The Temporal server at ${address} has no namespace "${namespace}": make it with \`temporal operator namespace create\`, or set TEMPORAL_NAMESPACE to one it has.`,
      );
    case 'silent':
      throw new Error(
        `No Temporal server answers at ${address}: start one there, or unset TEMPORAL_ADDRESS to have Amble start its own.`,
      );
  }
}

function namespaceOf({ temporalNamespace }: Pick<TemporalWishes, 'temporalNamespace'>): string {
  return temporalNamespace ?? 'default';
}

/** The Temporal server that startEngines would join, for those who only want to ask it; null: none runs. */
export async function findTemporal(
  options: Pick<TemporalWishes, 'home' | 'temporalAddress' | 'temporalNamespace' | 'usualAddress'>,
): Promise<TemporalServer | null> {
  const namespace = namespaceOf(options);
  const { temporalAddress, usualAddress = USUAL_ADDRESS } = options;
  const home = homeAt(options.home);
  if (temporalAddress === undefined && hadTemporal(home)) return findEmbedded(home, namespace);
  const address = temporalAddress ?? usualAddress;
  return (await probeTemporal(address, namespace)) === 'serves'
    ? { address, namespace, uiUrl: null, embedded: false }
    : null;
}
