// A process that uses the engines of a home: prints where they are once they run, and exits when its input ends. It runs the
// compiled program, as `npm test` has built it.
import { startEngines } from '../../dist/src/embedded/index.js';

const engines = await startEngines({
  home: process.argv[2],
  isolated: true,
  notify: (line) => console.error(line),
});
console.log(JSON.stringify({ databaseUrl: engines.databaseUrl, temporal: engines.temporal }));
process.stdin.resume();
process.stdin.once('end', () => engines.stop());
