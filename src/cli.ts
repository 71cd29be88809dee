#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --max-semi-space-size=4 --heap-growing-percent=50
/**
 * Entry point of the `amble` command; the code is in src/cli. The options above halve the memory of a worker, which has many threads:
 * by itself, V8 lets the heap grow to four times what is alive. They cannot be set while a process runs.
 */
import { main } from './cli/main.ts';

// Exits even if a native thread or a socket is still open: by now everything that matters has been closed.
process.exit(await main(process.argv));
