// What has come of requests whose headers are not complete. Node keeps it, twice as large, and shows it to nobody, so it
// is told by what each connection has brought since its last request.

/** The part of a socket that matters here. */
export interface Incoming {
  readonly bytesRead: number;
  destroy(): unknown;
}

interface Known {
  readonly connection: Incoming;
  /** What it had brought when its last request, or answer, was complete. */
  mark: number;
}

/** Of all connections together, in bytes. */
const MOST = 64 << 20;

export class UnfinishedRequests {
  readonly #most: number;
  readonly #known = new Map<object, Known>();

  constructor(most = MOST) {
    this.#most = most;
  }

  add(connection: Incoming): void {
    this.#known.set(connection, { connection, mark: connection.bytesRead });
  }

  /** All that has come so far belongs to requests that are complete. */
  mark(connection: Incoming): void {
    const known = this.#known.get(connection);
    if (known) known.mark = connection.bytesRead;
  }

  delete(connection: object): void {
    this.#known.delete(connection);
  }

  /** Cuts those that have brought most, while all together have brought too much. Returns how many. */
  cut(): number {
    const unfinished: { readonly connection: Incoming; readonly bytes: number }[] = [];
    let all = 0;
    for (const { connection, mark } of this.#known.values()) {
      const bytes = connection.bytesRead - mark;
      if (bytes <= 0) continue;
      all += bytes;
      unfinished.push({ connection, bytes });
    }
    if (all <= this.#most) return 0;
    let cut = 0;
    for (const { connection, bytes } of unfinished.sort((a, b) => b.bytes - a.bytes)) {
      if (all <= this.#most) break;
      all -= bytes;
      cut++;
      connection.destroy();
    }
    return cut;
  }
}
