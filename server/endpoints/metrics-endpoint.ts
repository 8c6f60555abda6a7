// Serves /metrics.
import type { Router } from 'express';
import type { Registry } from 'prom-client';
import { endpoint, newRouter, readOnly } from '../http/endpoint.ts';
import type { Handler } from '../request/request-context.ts';

/** Metrics in the text format of Prometheus. Callers need a permission, because metrics contain names of users' resources. */
export function metricsRouter(registry: Registry): Router {
  const router = newRouter();
  router
    .route('/metrics')
    .get(endpoint(metricsHandler(registry)))
    .all(readOnly);
  return router;
}

function metricsHandler(registry: Registry): Handler {
  return async ({ response }) => {
    const body = Buffer.from(await registry.metrics());
    response.writeHead(200, {
      'Content-Type': registry.contentType,
      'Cache-Control': 'no-cache, private',
      'Content-Length': body.length,
    });
    response.end(body);
  };
}
