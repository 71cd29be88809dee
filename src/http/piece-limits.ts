/**
 * Pieces of a response take time however small they are: 10 MB in chunks of one byte held the processor for ten seconds, and interim
 * responses have no end. Honest servers send a thousand bytes at a time, and one interim response.
 */
import type { Failure } from './failure.ts';

const MAX_CHUNKS = 200_000;
const MAX_INTERIM_RESPONSES = 100;

/** Of one response. */
export class PieceLimits {
  #interimResponses = 0;
  #chunks = 0;

  constructor(private readonly host: string) {}

  /** Why the response is not read any further. null: it is. */
  addInterimResponse(): Failure | null {
    this.#interimResponses += 1;
    return this.#interimResponses > MAX_INTERIM_RESPONSES ? this.#tooMany('interim responses') : null;
  }

  addChunk(): Failure | null {
    this.#chunks += 1;
    return this.#chunks > MAX_CHUNKS ? this.#tooMany('pieces of a body') : null;
  }

  #tooMany(what: string): Failure {
    return { errorKind: 'bad-response', message: `${this.host} sent too many ${what}.` };
  }
}
