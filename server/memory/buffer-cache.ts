/** A cache of buffers with a maximum total size. The least recently used buffer is evicted first. */
export class BufferCache<Key> {
  readonly #maxBytes: number;
  /** Least recently used first. */
  readonly #buffers = new Map<Key, Buffer>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Memory of all buffers, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: Key): Buffer | undefined {
    const buffer = this.#buffers.get(key);
    if (!buffer) return undefined;
    this.#buffers.delete(key);
    this.#buffers.set(key, buffer);
    return buffer;
  }

  /** Adds a buffer, or replaces the one with this key. A buffer above the maximum size is not kept. */
  set(key: Key, buffer: Buffer): void {
    this.#bytes -= this.#buffers.get(key)?.length ?? 0;
    this.#buffers.delete(key);
    if (buffer.length > this.#maxBytes) return;
    this.#bytes += buffer.length;
    this.#buffers.set(key, buffer);
    for (const [oldest, { length }] of this.#buffers) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#buffers.delete(oldest);
      this.#bytes -= length;
    }
  }
}
