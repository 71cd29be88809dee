#!/usr/bin/env node
/** Entry point of the `amble` command; the code is in src/cli. */
import { main } from './cli/main.ts';

// Exits even if a native thread or a socket is still open: by now everything that matters has been closed.
process.exit(await main(process.argv));
