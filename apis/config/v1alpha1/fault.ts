/** One thing wrong with the configuration, and where. */
export interface Fault {
  /** The file or flag it stands in. */
  readonly source: string;
  /** 1-based; undefined when it does not stand in a file. */
  readonly position: { readonly line: number; readonly column: number } | undefined;
  /** JSON path in dots, for instance `listeners.secure.port`; empty for the document itself. */
  readonly path: string;
  readonly message: string;
}

function formatFault({ source, position, path, message }: Fault): string {
  const where = position ? `${source}:${position.line}:${position.column}` : source;
  return path === '' ? `${where}: ${message}` : `${where}: ${path}: ${message}`;
}

/** All faults of a configuration at once, one a line. */
export class ConfigurationError extends Error {
  readonly code = 'ERR_CONFIGURATION';
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map(formatFault).join('\n'));
    this.name = 'ConfigurationError';
    this.faults = faults;
  }
}
