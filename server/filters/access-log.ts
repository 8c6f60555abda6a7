// Access log filter: writes one log line when a request ends.
import type { Logger } from 'pino';
import { StatusError } from '../../apis/meta/v1/errors.ts';
import { printable, recordedAgent } from '../observability/printable-text.ts';
import { READ_VERBS, type ResourceRequest } from '../request/request-info.ts';
import type { Exchange, Filter } from './exchange.ts';

/**
 * Logs requests with these levels: `error` for bugs (500 and above), `warn` for an unavailable dependency (503, 504), `info` for
 * rejected and mutating requests, `debug` for successful reads. A 5xx response that the handler wrote itself, such as a failed
 * health check, has level `debug`, because its reason is logged elsewhere.
 */
export function accessLog(logger: Logger, monotonic: () => number): Filter {
  const log = (exchange: Exchange): void => {
    const level = levelOf(exchange);
    if (!logger.isLevelEnabled(level)) return;
    logger[level](newAccessRecord(exchange, monotonic()), 'request');
  };
  return (exchange) => exchange.onEnd(log);
}

function levelOf({ status, info, error }: Exchange): 'debug' | 'info' | 'warn' | 'error' {
  if (status >= 500) {
    // Invalid credentials on a public path set `error`, but do not affect the response.
    if (error === undefined || (error instanceof StatusError && error.code !== status)) return 'debug';
    return status === 503 || status === 504 ? 'warn' : 'error';
  }
  return status < 400 && READ_VERBS.has(info.verb) ? 'debug' : 'info';
}

/** The fields of a log line. They never contain credentials, nor the query, which may contain codes and tokens. */
export interface AccessRecord {
  readonly requestID: string;
  /** For a request whose trace is sampled. */
  readonly trace_id?: string;
  readonly method: string;
  readonly verb: string;
  readonly path: string;
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Undefined for an unauthenticated request. */
  readonly user?: string;
  readonly status: number;
  /** Duration of the request or stream, in ms with three decimals. */
  readonly latency: number;
  readonly source?: string;
  readonly userAgent?: string;
  /** Why the request was rejected or failed. Never sent to the client. */
  readonly cause?: string;
}

/** Maximum length of a logged path or name. Valid ones are shorter in Kubernetes. */
const MAX_PATH = 512;

export function newAccessRecord(exchange: Exchange, now: number): AccessRecord {
  const { request, info, auditID, user, authenticated, status, source } = exchange;
  const agent = request.headers['user-agent'];
  const cause = causeOf(exchange.error);
  return {
    requestID: auditID,
    ...exchange.traceFields,
    method: request.method ?? '',
    verb: info.verb,
    path: printable(exchange.path, MAX_PATH),
    ...(info.isResourceRequest ? target(info) : {}),
    ...(authenticated ? { user: printable(user.name) } : {}),
    status,
    latency: Math.round((now - exchange.startedAt) * 1000) / 1000,
    ...(source === undefined ? {} : { source }),
    ...(agent === undefined ? {} : { userAgent: recordedAgent(agent) }),
    ...(cause === undefined ? {} : { cause }),
  };
}

function target(info: ResourceRequest): Pick<AccessRecord, 'resource' | 'namespace' | 'name'> {
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`;
  return {
    resource: printable(info.group === '' ? resource : `${resource}.${info.group}`, MAX_PATH),
    ...(info.namespace === '' ? {} : { namespace: printable(info.namespace, MAX_PATH) }),
    ...(info.name === '' ? {} : { name: printable(info.name, MAX_PATH) }),
  };
}

/** The messages of the error and its causes, from the outermost to the innermost. */
function causeOf(error: unknown): string | undefined {
  const messages: string[] = [];
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if (!messages.includes(current.message)) messages.push(current.message);
    current = current.cause;
  }
  return messages.length === 0 ? undefined : printable(messages.join(': '));
}
