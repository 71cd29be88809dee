/** A small deterministic web on loopback, for `amble demo` and the tests. */
export type { ExpectedPage } from './expected.ts';
export { type Arrival, type DemoWeb, startDemoWeb } from './server.ts';
