/**
 * The demo web as a process of its own: `node dist/src/demo/serve.js [port]`. Its first line on standard output is one
 * JSON object with the port, the seeds and the names to resolve; it serves until it is told to stop.
 */
import { startDemoWeb } from './server.ts';

const web = await startDemoWeb({ port: Number(process.argv[2] ?? 0) });
process.stdout.write(`${JSON.stringify({ port: web.port, seeds: web.seeds, resolve: web.resolve })}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void web.stop());
}
