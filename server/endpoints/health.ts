// /livez, /readyz and /healthz in kube-apiserver's words. What is checked is not known here: see HealthRegistry.
import { newPathNotFound } from '../../apis/meta/v1/errors.ts';
import type { Handler, RequestContext } from '../filters/request-context.ts';
import { HealthCheckError } from './health-check.ts';
import type { HealthRegistry, HealthResult } from './health-registry.ts';
import { onlyRead } from './static-document.ts';

/** Answers `/<path>` and `/<path>/<check>`; 200, or 500 when a check fails. */
export function healthHandler(registry: HealthRegistry): Handler {
  const root = `/${registry.path}`;
  return async (context) => {
    onlyRead(context);
    const { path } = context.info;
    const excluded = context.query.getAll('exclude').filter((name) => name !== '');
    if (path === root || path === `${root}/`) {
      const names = registry.names.filter((name) => !excluded.includes(name));
      const unknown = excluded.filter((name) => !registry.has(name));
      await answer(context, registry.path, await registry.run(names, context.signal), unknown);
      return;
    }
    const name = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : '';
    if (!registry.has(name)) throw newPathNotFound();
    await answer(context, name, await registry.run([name], context.signal), []);
  };
}

async function answer(
  context: RequestContext,
  subject: string,
  results: readonly HealthResult[],
  unknown: readonly string[],
): Promise<void> {
  const failed = results.filter(({ failure }) => failure !== undefined);
  for (const { name, failure } of failed) {
    // A reason that everybody may read needs no stack: while the server starts, a probe asks every second.
    const why = failure instanceof HealthCheckError ? { reason: failure.message } : { err: failure };
    context.log.warn({ check: name, ...why }, 'health check failed');
  }
  const verbose = failed.length > 0 || context.query.has('verbose');
  const lines = verbose ? results.map(line) : [];
  if (verbose && unknown.length > 0) {
    lines.push(
      `warn: some health checks cannot be excluded: no matches for ${unknown.map(quoted).join(',')}`,
    );
  }
  const verdict = `${subject} check ${failed.length > 0 ? 'failed' : 'passed'}`;
  const body = verbose ? `${[...lines, verdict].join('\n')}\n` : 'ok';
  const { response, request } = context;
  response.writeHead(failed.length > 0 ? 500 : 200, {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-cache, private',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function line({ name, failure, text }: HealthResult): string {
  if (failure === undefined) return text === undefined ? `[+]${name} ok` : `[+]${name} ok: ${text}`;
  return `[-]${name} failed: ${failure instanceof HealthCheckError ? failure.message : 'reason withheld'}`;
}

function quoted(name: string): string {
  return JSON.stringify(name);
}
