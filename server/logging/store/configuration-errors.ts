// UnfitOptionError: the error for an option of the log store that does not fit the store at runtime. It names the
// option and the effect on log queries.

/**
 * The store does not match an option: a file is missing or invalid, the data have another layout, or the store rejects the
 * credentials of this server.
 */
export class UnfitOptionError extends Error {
  override readonly name = 'UnfitOptionError';
  /** Path in the configuration, for instance `logging.opensearch.fields`. */
  readonly option: string;
  /** Shown in the health check. */
  readonly reason: string;
  /** Effect on log queries. */
  readonly effect: string;
  /** Path of the invalid file, for the server log. */
  readonly path: string | undefined;

  constructor(option: string, reason: string, effect = 'log queries return 503', path?: string) {
    super(`${reason}: see ${option}`);
    this.path = path;
    this.option = option;
    this.reason = reason;
    this.effect = effect;
  }
}

/** The UnfitOptionError among the error and its causes. */
export function unfitOptionIn(error: unknown): UnfitOptionError | undefined {
  if (error instanceof UnfitOptionError) return error;
  return error instanceof Error ? unfitOptionIn(error.cause) : undefined;
}
