// The access log: one line per request, written when the request ends. audit.ts writes audit events with the same members.
import type { Logger } from 'pino';
import { StatusError } from '../../apis/meta/v1/errors.ts';
import { printable, recordedAgent } from '../observability/printable-text.ts';
import { READ_VERBS, type ResourceRequest } from '../request/request-info.ts';
import type { Exchange, Filter } from './exchange.ts';

/**
 * Levels: `error` for bugs (500 and above), `warn` for an unavailable dependency (503, 504), `info` for rejected and
 * mutating requests, `debug` for successful reads. A failure that a handler reports itself, such as a health check, is also
 * `debug`: its reason is already logged.
 */
export function accessLog(logger: Logger, monotonic: () => number): Filter {
  return (exchange) => {
    exchange.onEnd(() => {
      const level = levelOf(exchange);
      if (!logger.isLevelEnabled(level)) return;
      logger[level](newAccessRecord(exchange, monotonic()), 'request');
    });
  };
}

function levelOf({ status, info, error }: Exchange): 'debug' | 'info' | 'warn' | 'error' {
  if (status >= 500) {
    // Rejected credentials on a public path leave an error that is not the response.
    if (error === undefined || (error instanceof StatusError && error.code !== status)) return 'debug';
    return status === 503 || status === 504 ? 'warn' : 'error';
  }
  return status < 400 && READ_VERBS.has(info.verb) ? 'debug' : 'info';
}

/** The members of a line. Never contains the query, which may hold codes and tokens, or credentials. */
export interface AccessRecord {
  readonly requestID: string;
  readonly method: string;
  readonly verb: string;
  readonly path: string;
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Missing for an unauthenticated request. */
  readonly user?: string;
  readonly status: number;
  /** Milliseconds with three decimals; for a stream its whole duration. */
  readonly latency: number;
  readonly source?: string;
  readonly userAgent?: string;
  /** Why the request was rejected or failed. Never sent to the client. */
  readonly cause?: string;
}

/** Maximum length of a path and of a name in it; those of Kubernetes are shorter. */
const MAX_PATH = 512;

export function newAccessRecord(exchange: Exchange, now: number): AccessRecord {
  const { request, info, auditID, user, authenticated, status, source } = exchange;
  const agent = request.headers['user-agent'];
  const cause = causeOf(exchange.error);
  return {
    requestID: auditID,
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

/** The messages of the error and its causes, innermost last. */
function causeOf(error: unknown): string | undefined {
  const messages: string[] = [];
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if (!messages.includes(current.message)) messages.push(current.message);
    current = current.cause;
  }
  return messages.length === 0 ? undefined : printable(messages.join(': '));
}
