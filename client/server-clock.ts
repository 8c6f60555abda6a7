// ServerClock: the time of the server, for ages and for time ranges that end now, because the clock of a browser can be wrong.

/** Smaller differences are those of the header `Date`, which has whole seconds, and of the network. In ms. */
const PRECISION = 2_000;
const TIMEOUT = 3_000;

export class ServerClock {
  #ahead = 0;

  /** In ms since the epoch: before the first `read`, by the clock of the browser. */
  now(): number {
    return Date.now() + this.#ahead;
  }

  /** Reads the time in the response of an address of the server. Without a response, the difference stays. */
  async read(url: string): Promise<void> {
    try {
      const signal = AbortSignal.timeout(TIMEOUT);
      const { headers } = await fetch(url, { method: 'HEAD', cache: 'no-store', signal });
      const ahead = Date.parse(headers.get('Date') ?? '') - Date.now();
      if (!Number.isNaN(ahead)) this.#ahead = Math.abs(ahead) < PRECISION ? 0 : ahead;
    } catch {
      // Other requests say why the server is unreachable.
    }
  }
}
