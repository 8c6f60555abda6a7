/** Runs a component until it is disposed of. */
export function running(run: (signal: AbortSignal) => Promise<void>): AsyncDisposable {
  const stop = new AbortController();
  const ended = run(stop.signal);
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await ended;
    },
  };
}
