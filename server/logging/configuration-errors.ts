// Why a store cannot be used as the configuration says. Callers get a 503 that wraps it; the log and the health tell it.

/** A file that the configuration names, without which a store is not asked. */
export class UnusableFileError extends Error {
  override readonly name = 'UnusableFileError';
  /** In the configuration, for instance `logging.opensearch.caFile`. */
  readonly option: string;
  readonly path: string;
  /** For everybody to read, as the option is. */
  readonly reason: string;

  constructor(option: string, path: string, reason: string) {
    super(`${option}: ${path}: ${reason}`);
    this.option = option;
    this.path = path;
    this.reason = reason;
  }
}

/** The store cannot be used as the configuration says: it holds something else, or does not let this server in. */
export class UnfitOptionError extends Error {
  override readonly name = 'UnfitOptionError';
  /** In the configuration, for instance `logging.opensearch.fields`. */
  readonly option: string;
  /** For everybody to read, as the option is. */
  readonly reason: string;
  /** What becomes of log queries. */
  readonly effect: string;

  constructor(option: string, reason: string, effect = 'log queries get 503') {
    super(`${reason}: see ${option}`);
    this.option = option;
    this.reason = reason;
    this.effect = effect;
  }
}

/** The unusable file because of which a store was not asked, as stores wrap it. */
export function unusableFileIn(error: unknown): UnusableFileError | undefined {
  return causeOf(UnusableFileError, error);
}

/** The option that does not fit, as stores wrap it. */
export function unfitOptionIn(error: unknown): UnfitOptionError | undefined {
  return causeOf(UnfitOptionError, error);
}

/** The error of this kind that it is, or that lies behind it. */
function causeOf<Kind extends Error>(
  kind: new (...given: never[]) => Kind,
  error: unknown,
): Kind | undefined {
  if (error instanceof kind) return error;
  return error instanceof Error ? causeOf(kind, error.cause) : undefined;
}
