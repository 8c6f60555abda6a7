/** One thing that has to work, by its name in /livez, /readyz and /healthz. */
export interface HealthCheck {
  /** Lower case with hyphens; part of the path `/readyz/<name>`. */
  readonly name: string;
  /**
   * Returns what `?verbose` shows beside its name, if anything. Throws HealthCheckError when it fails for a reason
   * that everybody may read; the message of any other error is withheld and goes to the log.
   */
  check(signal: AbortSignal): Promise<string | void> | string | void;
}

/** A failure whose message holds nothing secret: health answers anonymous callers. */
export class HealthCheckError extends Error {
  readonly code = 'ERR_HEALTH_CHECK';
}
