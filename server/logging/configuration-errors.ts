// Errors for options of the log store that cannot work. The server log and the health check name the option and the
// effect on log queries.

/** A configured file is missing or invalid, so the store is not used. */
export class UnusableFileError extends Error {
  override readonly name = 'UnusableFileError';
  /** Path in the configuration, for instance `logging.opensearch.caFile`. */
  readonly option: string;
  readonly path: string;
  /** Shown in the health check. */
  readonly reason: string;

  constructor(option: string, path: string, reason: string) {
    super(`${option}: ${path}: ${reason}`);
    this.option = option;
    this.path = path;
    this.reason = reason;
  }
}

/** The store does not match an option: its data have another layout, or it rejects the credentials of this server. */
export class UnfitOptionError extends Error {
  override readonly name = 'UnfitOptionError';
  /** Path in the configuration, for instance `logging.opensearch.fields`. */
  readonly option: string;
  /** Shown in the health check. */
  readonly reason: string;
  /** Effect on log queries. */
  readonly effect: string;

  constructor(option: string, reason: string, effect = 'log queries return 503') {
    super(`${reason}: see ${option}`);
    this.option = option;
    this.reason = reason;
    this.effect = effect;
  }
}

/** The UnusableFileError among the error and its causes. */
export function unusableFileIn(error: unknown): UnusableFileError | undefined {
  return causeOf(UnusableFileError, error);
}

/** The UnfitOptionError among the error and its causes. */
export function unfitOptionIn(error: unknown): UnfitOptionError | undefined {
  return causeOf(UnfitOptionError, error);
}

function causeOf<Kind extends Error>(
  kind: new (...given: never[]) => Kind,
  error: unknown,
): Kind | undefined {
  if (error instanceof kind) return error;
  return error instanceof Error ? causeOf(kind, error.cause) : undefined;
}
