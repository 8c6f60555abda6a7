// ConfigurationError: all validation errors of a configuration file, with locations.

/** A validation error of an option, without its location. */
export interface OptionError {
  readonly path: readonly string[];
  /** What is invalid; default: the value. */
  readonly which?: 'key' | 'value';
  readonly message: string;
}

/** One validation error, with its location. */
export interface ValidationError {
  /** The file or flag. */
  readonly source: string;
  /** Position in the file, 1-based. Undefined for an error that is not in the file. */
  readonly position: { readonly line: number; readonly column: number } | undefined;
  /** The path of the option, such as `listeners.secure.port`; empty for the whole document. */
  readonly path: string;
  readonly message: string;
}

function format({ source, position, path, message }: ValidationError): string {
  const where = position ? `${source}:${position.line}:${position.column}` : source;
  return path === '' ? `${where}: ${message}` : `${where}: ${path}: ${message}`;
}

/** All validation errors of a configuration, one per line. */
export class ConfigurationError extends Error {
  readonly code = 'ERR_CONFIGURATION';
  readonly errors: readonly ValidationError[];

  constructor(errors: readonly ValidationError[]) {
    super(errors.map(format).join('\n'));
    this.name = 'ConfigurationError';
    this.errors = errors;
  }
}
