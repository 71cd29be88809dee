/**
 * Collects chunks in one buffer. A list of chunks would cost a hundred bytes of heap for each, and a server may send one byte per
 * chunk. A chunk is also a view of the block that the socket was read into, and would keep all of it in memory.
 */
export class GrowingBuffer {
  readonly #maxBytes: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  /** Bytes beyond `maxBytes` are dropped. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Buffer): void {
    const length = Math.min(this.#length + chunk.length, this.#maxBytes);
    if (length > this.#bytes.length) this.#grow(length);
    // Copies as much as fits.
    chunk.copy(this.#bytes, this.#length, 0, length - this.#length);
    this.#length = length;
  }

  /** A view, valid until more is added. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** The first chunk gets exactly what it needs, because most bodies have only one. */
  #grow(needed: number): void {
    const grown = Buffer.allocUnsafe(Math.min(Math.max(needed, 2 * this.#bytes.length), this.#maxBytes));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
