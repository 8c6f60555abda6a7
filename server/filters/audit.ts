import type { Logger } from 'pino';
import { printable } from '../observability/printable-text.ts';
import { READ_VERBS } from '../request/request-info.ts';
import { type AccessRecord, newAccessRecord } from './access-record.ts';
import type { Filter } from './exchange.ts';

/** Who tried to change what, and who was refused: kept apart from the log, which may be thinned out or sampled. */
export interface AuditEvent extends AccessRecord {
  readonly stage: 'ResponseComplete';
  /** RFC 3339, UTC. */
  readonly requestReceivedTimestamp: string;
  readonly groups?: readonly string[];
  readonly decision?: 'allow' | 'forbid';
  readonly reason?: string;
}

export interface AuditSink {
  record(event: AuditEvent): void;
}

/** Audit events as lines of the log with `"audit": true`, for a collector to route by. */
export function auditLog(logger: Logger): AuditSink {
  const audit = logger.child({ audit: true });
  return { record: (event) => audit.info(event, 'audit') };
}

const REFUSALS = new Set([401, 403, 413, 429]);

/** Writes an event for each request that is no plain read, and for each one that was refused. */
export function audit(sink: AuditSink, monotonic: () => number): Filter {
  return (exchange) => {
    exchange.onEnd(() => {
      if (READ_VERBS.has(exchange.info.verb) && !REFUSALS.has(exchange.status)) return;
      const { decision, authenticated, user } = exchange;
      sink.record({
        ...newAccessRecord(exchange, monotonic()),
        stage: 'ResponseComplete',
        requestReceivedTimestamp: new Date(exchange.receivedAt).toISOString(),
        ...(authenticated ? { groups: user.groups.map((group) => printable(group)) } : {}),
        ...(decision ? { decision: decision.allowed ? 'allow' : 'forbid' } : {}),
        ...(decision && decision.reason !== '' ? { reason: printable(decision.reason) } : {}),
      });
    });
  };
}
