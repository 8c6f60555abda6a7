/**
 * Measures how long the event loop was kept from its timers, in CPU time of this thread, so that what other programs
 * take from the processor does not count.
 */
export class LongestTurn {
  #longestMs = 0;
  #before = cpuMs();
  readonly #timer = setInterval(() => this.#look(), 1);

  /** Ends the measurement. The longest turn, in ms. */
  stop(): number {
    this.#look();
    clearInterval(this.#timer);
    return this.#longestMs;
  }

  #look(): void {
    const now = cpuMs();
    this.#longestMs = Math.max(this.#longestMs, now - this.#before);
    this.#before = now;
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
