/** The embedded Temporal dev server. */
import { type EngineIdentity, ensureRunning } from './engine.ts';
import type { Home } from './home.ts';
import { LOOPBACK } from './ports.ts';
import { findTemporalBinary } from './temporal-binary.ts';
import { probeTemporal } from './temporal-probe.ts';

export interface TemporalServer {
  address: string;
  namespace: string;
  /** null: not known, as with a server that is not ours. */
  uiUrl: string | null;
}

export function temporalEngine(home: Home): EngineIdentity {
  return {
    name: 'The embedded Temporal server',
    record: home.temporal.record,
    marker: `--db-filename ${home.temporal.database} `,
    stopping: [
      { signal: 'SIGTERM', waitMs: 15_000 },
      { signal: 'SIGKILL', waitMs: 5_000 },
    ],
  };
}

export interface TemporalOptions {
  namespace: string;
  /** Path of a `temporal` program to use before any other. */
  binary: string | undefined;
  say(line: string): void;
}

export async function ensureTemporal(
  home: Home,
  { namespace, binary, say }: TemporalOptions,
): Promise<TemporalServer> {
  const [port, uiPort] = await ensureRunning({
    ...temporalEngine(home),
    log: home.temporal.log,
    portCount: 2,
    command: async ([port, uiPort]) => ({
      argv: [
        ...[
          await findTemporalBinary(binary, say),
          'server',
          'start-dev',
          '--db-filename',
          home.temporal.database,
        ],
        ...['--ip', LOOPBACK, '--port', String(port), '--ui-port', String(uiPort)],
        ...(namespace === 'default' ? [] : ['--namespace', namespace]),
        // Two and a half times as fast as the default, and as safe against a killed process.
        ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
        // As a server on Postgres has it: what runs here must run there.
        ...['--dynamic-config-value', 'limit.maxIDLength=255'],
        ...['--log-level', 'warn', '--color', 'never'],
      ],
    }),
    answers: async ([port]) => (await probeTemporal(`${LOOPBACK}:${port}`, namespace)) === 'serves',
    cure: 'Set TEMPORAL_ADDRESS to use a server of your own instead.',
  });
  return { address: `${LOOPBACK}:${port}`, namespace, uiUrl: `http://${LOOPBACK}:${uiPort}` };
}
