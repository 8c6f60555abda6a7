// Limits the memory for incomplete requests of all connections of a listener. The connections with the largest
// incomplete requests are closed.

/** The used properties of net.Socket. */
interface Incoming {
  readonly bytesRead: number;
  destroy(): unknown;
}

/**
 * Node does not expose the size of buffered headers. The estimate is the number of bytes since the last complete
 * request.
 */
interface Entry {
  readonly connection: Incoming;
  /** Value of `bytesRead` when the last request or response was complete. */
  mark: number;
}

export const MAX_TOTAL_BYTES = 64 << 20;

export class IncompleteRequests {
  readonly #entries = new Map<object, Entry>();

  add(connection: Incoming): void {
    this.#entries.set(connection, { connection, mark: connection.bytesRead });
  }

  /** Records that all bytes read so far belong to complete requests. */
  mark(connection: Incoming): void {
    const entry = this.#entries.get(connection);
    if (entry) entry.mark = connection.bytesRead;
  }

  delete(connection: object): void {
    this.#entries.delete(connection);
  }

  /** Destroys the connections with the largest incomplete requests until the total is within the limit. Returns their number. */
  enforceLimit(): number {
    const incomplete: { readonly connection: Incoming; readonly bytes: number }[] = [];
    let total = 0;
    for (const { connection, mark } of this.#entries.values()) {
      const bytes = connection.bytesRead - mark;
      if (bytes <= 0) continue;
      total += bytes;
      incomplete.push({ connection, bytes });
    }
    if (total <= MAX_TOTAL_BYTES) return 0;
    let destroyed = 0;
    for (const { connection, bytes } of incomplete.sort((a, b) => b.bytes - a.bytes)) {
      if (total <= MAX_TOTAL_BYTES) break;
      total -= bytes;
      destroyed++;
      connection.destroy();
    }
    return destroyed;
  }
}
