// Serves /livez, /readyz and /healthz by running health checks. The responses have kube-apiserver's format.
import type { Router } from 'express';
import { Gauge, type Registry } from 'prom-client';
import { newPathNotFound } from '../../apis/meta/v1/errors.ts';
import { messageOf } from '../../apis/reading/thrown-value.ts';
import { endpoint, newRouter, readOnly } from '../http/endpoint.ts';
import type { Handler, RequestContext } from '../request/request-context.ts';

/** The last logged failure of each check. Repeated requests log the same failure only once. */
type LoggedFailures = Map<string, string>;

/**
 * `/<path>` and `/<path>/<check>` return 200, or 500 if a check fails. A check has the same name in all registries, so that its failure
 * is logged once.
 */
export function healthRouter(registries: readonly HealthRegistry[]): Router {
  const logged: LoggedFailures = new Map();
  const router = newRouter();
  for (const registry of registries) {
    const handler = healthHandler(registry, logged);
    router.route(`/${registry.path}{/*check}`).get(endpoint(handler)).all(readOnly);
  }
  return router;
}

/** Adds the metric of kube-apiserver for health checks. Each scrape runs the checks. */
export function collectHealthMetrics(metrics: Registry, registries: readonly HealthRegistry[]): void {
  metrics.registerMetric(
    new Gauge({
      name: 'kubernetes_healthcheck',
      help: '1 if the health check passes, else 0, by its name and type: `livez`, `readyz` or `healthz`.',
      labelNames: ['name', 'type'],
      registers: [],
      collect() {
        for (const registry of registries) {
          for (const { name, failure } of registry.run(registry.names)) {
            this.set({ name, type: registry.path }, failure === undefined ? 1 : 0);
          }
        }
      },
    }),
  );
}

function healthHandler(registry: HealthRegistry, logged: LoggedFailures): Handler {
  const root = `/${registry.path}`;
  const run = (names: readonly string[], { log }: RequestContext): HealthResult[] => {
    const results = registry.run(names);
    for (const result of results) logChange(result, logged, log);
    return results;
  };
  return (context) => {
    const { path } = context.info;
    const excluded = context.query.getAll('exclude').filter((name) => name !== '');
    if (path === root || path === `${root}/`) {
      const names = registry.names.filter((name) => !excluded.includes(name));
      const unknown = excluded.filter((name) => !registry.has(name));
      respond(context, registry.path, run(names, context), unknown);
      return;
    }
    const name = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : '';
    if (!registry.has(name)) throw newPathNotFound();
    respond(context, name, run([name], context), []);
  };
}

function logChange(
  { name, failure }: HealthResult,
  logged: LoggedFailures,
  log: RequestContext['log'],
): void {
  if (failure === undefined) {
    if (logged.delete(name)) log.info({ check: name }, 'health check passes again');
    return;
  }
  const message = messageOf(failure);
  if (logged.get(name) === message) return;
  logged.set(name, message);
  // A HealthCheckError has a public reason, and its stack has no information.
  const why = failure instanceof HealthCheckError ? { reason: message } : { err: failure };
  log.warn({ check: name, ...why }, 'health check failed');
}

function respond(
  context: RequestContext,
  subject: string,
  results: readonly HealthResult[],
  unknown: readonly string[],
): void {
  const failed = results.filter(({ failure }) => failure !== undefined);
  const verbose = failed.length > 0 || context.query.has('verbose');
  const lines = verbose ? results.map(line) : [];
  if (verbose && unknown.length > 0) {
    lines.push(
      `warn: some health checks cannot be excluded: no matches for ${unknown.map(quoted).join(',')}`,
    );
  }
  const verdict = `${subject} check ${failed.length > 0 ? 'failed' : 'passed'}`;
  const body = verbose ? `${[...lines, verdict].join('\n')}\n` : 'ok';
  const { response } = context;
  response.writeHead(failed.length > 0 ? 500 : 200, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-cache, private',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

function line({ name, failure, text }: HealthResult): string {
  if (failure === undefined) return text === undefined ? `[+]${name} ok` : `[+]${name} ok: ${text}`;
  return `[-]${name} failed: ${failure instanceof HealthCheckError ? failure.message : 'reason withheld'}`;
}

function quoted(name: string): string {
  return JSON.stringify(name);
}

/** A named check of /livez, /readyz and /healthz. */
export interface HealthCheck {
  /** Lower-case name with hyphens. It is part of the path `/readyz/<name>`. */
  readonly name: string;
  /**
   * Runs the check; it must not block. Returns an optional text for `?verbose`. Throws HealthCheckError for a failure
   * with a public reason. The message of any other error is only logged.
   */
  check(): string | void;
}

/** A failure whose message anonymous callers receive. */
export class HealthCheckError extends Error {
  readonly code = 'ERR_HEALTH_CHECK';
}

interface HealthResult {
  readonly name: string;
  /** The error of the check; undefined if it has passed. */
  readonly failure: unknown;
  readonly text: string | undefined;
}

/** The checks of one health path. They run in their order. */
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
