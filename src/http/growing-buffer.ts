/**
 * Bytes as they come, in one buffer. A list of the pieces would cost a hundred bytes of heap for each, and a server may
 * send one byte a piece; a piece is also a view of the block the socket was read into, and keeps all of that.
 */
export class GrowingBuffer {
  readonly #most: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  /** What is added beyond `most` bytes is left out. */
  constructor(most: number) {
    this.#most = most;
  }

  add(piece: Buffer): void {
    const length = Math.min(this.#length + piece.length, this.#most);
    if (length > this.#bytes.length) this.#grow(length);
    // Copies what there is room for.
    piece.copy(this.#bytes, this.#length, 0, length - this.#length);
    this.#length = length;
  }

  /** A view, good until more is added. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** The first piece gets what it needs, which is all there is to most bodies. */
  #grow(needed: number): void {
    const grown = Buffer.allocUnsafe(Math.min(Math.max(needed, 2 * this.#bytes.length), this.#most));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
