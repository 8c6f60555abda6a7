// Audit filter: logs one audit event for each mutating or rejected request.
import type { Logger } from 'pino';
import { printable } from '../observability/printable-text.ts';
import { READ_VERBS } from '../request/request-info.ts';
import { type AccessRecord, newAccessRecord } from './access-log.ts';
import type { Exchange, Filter } from './exchange.ts';

/** An audit event. Audit is separate from the access log, because the access log may be sampled. */
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

/** Writes audit events as log lines with `"audit": true`, by which log collectors can route them. */
export function auditLog(logger: Logger): AuditSink {
  const audit = logger.child({ audit: true });
  return { record: (event) => audit.info(event, 'audit') };
}

const REJECTIONS = new Set([401, 403, 413, 429]);

/** Records an event for each mutating request, for each rejected one, and for each upgrade such as exec, which has the method GET. */
export function audit(sink: AuditSink, monotonic: () => number): Filter {
  const record = (exchange: Exchange): void => {
    const { decision, authenticated, user, info, status, upgrade } = exchange;
    const isRead = READ_VERBS.has(info.verb) && (!upgrade || info.verb === 'watch');
    if (isRead && !REJECTIONS.has(status)) return;
    sink.record({
      ...newAccessRecord(exchange, monotonic()),
      stage: 'ResponseComplete',
      requestReceivedTimestamp: new Date(exchange.receivedAt).toISOString(),
      ...(authenticated ? { groups: user.groups.map((group) => printable(group)) } : {}),
      ...(decision ? { decision: decision.allowed ? 'allow' : 'forbid' } : {}),
      ...(decision && decision.reason !== '' ? { reason: printable(decision.reason) } : {}),
    });
  };
  return (exchange) => exchange.onEnd(record);
}
