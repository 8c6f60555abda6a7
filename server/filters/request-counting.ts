// Filters that count requests in RequestMetrics, with the labels of kube-apiserver's metrics.
import type { ResourceRequest } from '../request/request-info.ts';
import type { KnownResource } from '../request/resource-route.ts';
import type { Exchange, Filter } from './exchange.ts';
import type { RequestLabels, RequestObserver } from './request-metrics.ts';

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
/** Health checks have separate labels, as in kube-apiserver, because a failed probe is not a failed request of a caller. */
const HEALTH = /^\/(?:livez|readyz|healthz)(?=\/|$)/;
const CONNECTING = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Counts each request when it ends. */
export function countRequests(
  metrics: RequestObserver,
  known: KnownResource,
  monotonic: () => number,
): Filter {
  const count = (exchange: Exchange): void => {
    const labels = labelsOf(exchange, known);
    const { status } = exchange;
    if (exchange.longRunning) metrics.count(labels, status);
    else metrics.observe(labels, status, (monotonic() - exchange.startedAt) / 1000);
    if (status === 429 || status === 413 || status === 504) metrics.terminated(labels.verb, status);
  };
  return (exchange) => exchange.onEnd(count);
}

/** Counts open long-running requests. */
export function countLongRunning(metrics: RequestObserver, known: KnownResource): Filter {
  return (exchange) => {
    if (!exchange.longRunning) return;
    const labels = labelsOf(exchange, known);
    metrics.longRunning(labels, 1);
    exchange.onEnd(() => metrics.longRunning(labels, -1));
  };
}

/** Unserved paths share one empty set of labels, because clients can invent any number of them. */
function labelsOf({ request, info }: Exchange, known: KnownResource): RequestLabels {
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '');
  const verb = METHODS.has(method) ? method : 'OTHER';
  if (!info.isResourceRequest) return nonResource(verb, HEALTH.exec(info.path)?.[0]);
  const { group, version, resource, subresource } = info;
  if (!known(group, version, resource, subresource)) return nonResource(verb);
  return {
    verb: CONNECTING.has(subresource) ? 'CONNECT' : resourceVerb(verb, info.verb),
    group,
    version,
    resource,
    subresource,
    scope: scopeOf(info),
  };
}

function nonResource(verb: string, subresource = ''): RequestLabels {
  return { verb, group: '', version: '', resource: '', subresource, scope: '' };
}

function resourceVerb(method: string, verb: string): string {
  if (method === 'GET') return verb.toUpperCase();
  return verb === 'deletecollection' ? 'DELETECOLLECTION' : method;
}

function scopeOf({ name, verb, namespace }: ResourceRequest): string {
  if (name !== '' || verb === 'create') return 'resource';
  return namespace === '' ? 'cluster' : 'namespace';
}
