import { printable, recordedAgent } from '../observability/printable-text.ts';
import type { ResourceRequest } from '../request/request-info.ts';
import type { Exchange } from './exchange.ts';

/** What a line says about a request. Never the query, which may hold codes and tokens, nor a header's credentials. */
export interface AccessRecord {
  readonly requestID: string;
  readonly method: string;
  readonly verb: string;
  readonly path: string;
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Missing when the caller could not be authenticated. */
  readonly user?: string;
  readonly status: number;
  /** Milliseconds with three digits; of a stream how long it was open. */
  readonly latency: number;
  readonly source?: string;
  readonly userAgent?: string;
  /** Why it was refused or failed: for operators, never sent to the caller. */
  readonly cause?: string;
}

/** Of a path, and of a name out of it: the paths of Kubernetes are shorter. */
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

/** The messages along the chain of causes, innermost last. */
function causeOf(error: unknown): string | undefined {
  const messages: string[] = [];
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if (!messages.includes(current.message)) messages.push(current.message);
    current = current.cause;
  }
  return messages.length === 0 ? undefined : printable(messages.join(': '));
}
