import type { Registry } from 'prom-client';
import type { Handler } from '../request/request-context.ts';
import { requireRead } from './static-document.ts';

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
