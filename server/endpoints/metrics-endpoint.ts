import type { Registry } from 'prom-client';
import { requireRead } from '../http/static-document.ts';
import type { Handler } from '../request/request-context.ts';

/**
 * Handler of /metrics in the text format of Prometheus. Callers need a permission, because metrics contain names of
 * users' resources.
 */
export function metricsHandler(registry: Registry): Handler {
  return async (context) => {
    requireRead(context);
    const { response } = context;
    const body = Buffer.from(await registry.metrics());
    response.writeHead(200, {
      'Content-Type': registry.contentType,
      'Cache-Control': 'no-cache, private',
      'Content-Length': body.length,
    });
    response.end(body);
  };
}
