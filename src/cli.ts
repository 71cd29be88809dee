#!/usr/bin/env node
/** The `amble` program: everything is in src/cli. */
import { run } from './cli/run.ts';

// Leaves even if a native thread or a socket would keep the process: by now everything that matters has been closed.
process.exit(await run(process.argv));
