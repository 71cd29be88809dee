// Runs the demo on other versions of Node than the one that runs the tests: `npm run check:node -- 22 24 26`.
// With --unit it runs the unit tests on them too. The versions come from npm; the program must have been built.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const majors = process.argv.slice(2).filter((arg) => /^\d+$/.test(arg));
const withUnitTests = process.argv.includes('--unit');

for (const major of majors) {
  const directory = mkdtempSync(join(tmpdir(), `amble-node-${major}-`));
  try {
    const name = `node-${process.platform}-${process.arch}`;
    const quietly = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
    run('npm', ['install', '--prefix', directory, ...quietly, `${name}@${major}`]);
    const bin = join(directory, 'node_modules', name, 'bin');
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
    const node = join(bin, 'node');
    console.log(`Node ${run(node, ['--version'], { stdio: 'pipe' }).stdout.toString().trim()}`);
    if (withUnitTests)
      run(node, ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', '--reporter=dot'], { env });
    run(node, ['dist/src/cli.js', 'demo', '--json', '--home', join(directory, 'home')], { env });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function run(program, args, options = {}) {
  const ended = spawnSync(program, args, { stdio: 'inherit', ...options });
  if (ended.status === 0) return ended;
  console.error(`${program} ${args.join(' ')} ended with ${ended.status ?? ended.signal ?? ended.error}.`);
  process.exit(1);
}
