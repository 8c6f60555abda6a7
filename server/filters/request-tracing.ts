// Traces requests: a span with the time of each filter, and a span for each call to another server. It exists only if tracing is enabled.
import type { IncomingMessage } from 'node:http';
import { record, text } from '../../apis/reading/unknown-value.ts';
import { ANONYMOUS } from '../authentication/user.ts';
import { printable } from '../observability/printable-text.ts';
import type { KnownResource } from '../request/resource-route.ts';
import { RequestTrace } from '../tracing/request-trace.ts';
import type { Sampler } from '../tracing/sampler.ts';
import type { Span, SpanSink } from '../tracing/span.ts';
import { parseTraceparent, runInTrace } from '../upstream/trace-context.ts';
import type { Exchange, Filter } from './exchange.ts';

/** Methods that a span can have (semantic conventions of HTTP spans); clients can invent others. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE']);
const MAX_PATH = 512;

export interface RequestTracingOptions {
  readonly sampler: Sampler;
  readonly spans: SpanSink;
  readonly knownResource: KnownResource;
  readonly monotonic: () => number;
}

export class RequestTracing {
  readonly #options: RequestTracingOptions;

  constructor(options: RequestTracingOptions) {
    this.#options = options;
  }

  /** Serves a request with a trace. A caller without a sample has none here either. */
  serve(exchange: Exchange, work: () => void): void {
    const { sampler, monotonic } = this.#options;
    const parent = parseTraceparent(exchange.request.headers['traceparent']);
    const isSampled = parent?.isSampled !== false && sampler.samples();
    const trace = new RequestTrace(parent, isSampled, monotonic);
    exchange.trace = trace;
    exchange.onEnd(() => {
      if (trace.isSampled) this.#options.spans.add(this.#spansOf(exchange, trace));
      trace.end();
    });
    runInTrace(trace, work);
  }

  /** Grants the sample that an authenticated caller requests. Comes after authentication. */
  readonly sampling: Filter = ({ trace, authenticated, user, caller }) => {
    if (!trace?.parent?.isSampled || trace.isSampled) return;
    if (authenticated && user.name !== ANONYMOUS.name) trace.isSampled = this.#options.sampler.grants(caller);
  };

  /** Returns the filter, which records its time. */
  timed(name: string, filter: Filter): Filter {
    const { monotonic } = this.#options;
    return (exchange) => {
      if (!exchange.trace?.isRecorded) return filter(exchange);
      const startedAt = monotonic();
      const passed = (): void => exchange.trace?.passed(name, startedAt);
      let pending: Promise<void> | undefined;
      try {
        pending = filter(exchange) ?? undefined;
      } finally {
        if (!pending) passed();
      }
      return pending?.finally(passed);
    };
  }

  #spansOf(exchange: Exchange, trace: RequestTrace): Span[] {
    const now = this.#options.monotonic();
    const timeOf = (at: number): number => exchange.receivedAt + (at - exchange.startedAt);
    const { id: traceID, spanID, parent } = trace;
    const method = methodOf(exchange.request.method);
    const route = routeOf(exchange, this.#options.knownResource);
    const { status } = exchange;
    const served: Span = {
      name: route === undefined ? method : `${method} ${route}`,
      kind: 'server',
      traceID,
      spanID,
      parent: parent && { spanID: parent.spanID, isRemote: true },
      startedAt: exchange.receivedAt,
      endedAt: timeOf(now),
      attributes: {
        'http.request.method': method,
        'url.scheme': exchange.secure ? 'https' : 'http',
        'url.path': printable(exchange.path, MAX_PATH),
        ...(route === undefined ? {} : { 'http.route': route }),
        'http.response.status_code': status,
        ...(status >= 500 ? { 'error.type': String(status) } : {}),
        // As in spans of kube-apiserver.
        'audit-id': exchange.auditID,
        verb: exchange.info.verb,
      },
      events: trace.filters.map(({ name, startedAt, endedAt }) => ({
        name,
        at: timeOf(endedAt),
        attributes: { duration: (endedAt - startedAt) / 1_000 },
      })),
      isFailed: status >= 500,
    };
    const calls = trace.calls.map(
      ({ spanID: id, method: sent, origin, startedAt, endedAt, status: code }): Span => {
        const { hostname, port, protocol } = new URL(origin);
        return {
          name: sent,
          kind: 'client',
          traceID,
          spanID: id,
          parent: { spanID, isRemote: false },
          startedAt: timeOf(startedAt),
          endedAt: timeOf(endedAt ?? now),
          attributes: {
            'http.request.method': methodOf(sent),
            'server.address': hostname.replace(/^\[|\]$/g, ''),
            'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
            ...(code === undefined ? { 'error.type': '_OTHER' } : { 'http.response.status_code': code }),
            ...(code !== undefined && code >= 400 ? { 'error.type': String(code) } : {}),
          },
          events: [],
          isFailed: code === undefined || code >= 400,
        };
      },
    );
    return [served, ...calls];
  }
}

function methodOf(method = ''): string {
  return METHODS.has(method) ? method : '_OTHER';
}

/**
 * Returns the template of the path, whose number is bounded: it has the names of resources that this server or kube-apiserver serves, else
 * undefined.
 */
function routeOf({ request, info, proxied, status }: Exchange, known: KnownResource): string | undefined {
  if (!info.isResourceRequest) return proxied ? undefined : expressRoute(request);
  const { prefix, group, version, namespace, resource, name, subresource, parts } = info;
  if (proxied ? status >= 400 : !known(group, version, resource, subresource)) return undefined;
  return [
    '',
    prefix,
    ...(group === '' ? [] : [group]),
    version,
    ...(namespace === '' || parts[0] === 'namespaces' ? [] : ['namespaces', '{namespace}']),
    resource,
    ...(parts.length > 1 && name !== '' ? ['{name}'] : []),
    ...(subresource === '' ? [] : [subresource]),
  ].join('/');
}

/** The path of the route by which Express has found the handler. */
function expressRoute(
  request: IncomingMessage & { readonly baseUrl?: unknown; readonly route?: unknown },
): string | undefined {
  const { path } = record(request.route);
  return typeof path === 'string' ? text(request.baseUrl) + path : undefined;
}
