/** One thing that has to work, by its name in /livez, /readyz and /healthz. */
export interface HealthCheck {
  /** Lower case with hyphens; part of the path `/readyz/<name>`. */
  readonly name: string;
  /**
   * Tells what is known, without waiting for anything. Returns what `?verbose` shows beside its name, if anything.
   * Throws HealthCheckError when it fails for a reason that everybody may read; the message of any other error is
   * withheld and goes to the log.
   */
  check(): string | void;
}

/** A failure whose message holds nothing secret: health answers anonymous callers. */
export class HealthCheckError extends Error {
  readonly code = 'ERR_HEALTH_CHECK';
}

export interface HealthResult {
  readonly name: string;
  /** Undefined when the check passed. */
  readonly failure: unknown;
  readonly text: string | undefined;
}

/** The named checks of one health path, in the order in which they are given. */
export class HealthRegistry {
  /** `livez`, `readyz` or `healthz`. */
  readonly path: string;
  readonly #checks: ReadonlyMap<string, HealthCheck>;

  constructor(path: string, checks: readonly HealthCheck[]) {
    this.path = path;
    this.#checks = new Map(checks.map((check) => [check.name, check]));
  }

  has(name: string): boolean {
    return this.#checks.has(name);
  }

  get names(): string[] {
    return [...this.#checks.keys()];
  }

  run(names: readonly string[]): HealthResult[] {
    return names.flatMap((name) => this.#checks.get(name) ?? []).map(resultOf);
  }
}

function resultOf(check: HealthCheck): HealthResult {
  const { name } = check;
  try {
    return { name, failure: undefined, text: check.check() ?? undefined };
  } catch (error) {
    return { name, failure: error, text: undefined };
  }
}
