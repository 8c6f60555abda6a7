import type { Logger } from 'pino';
import type { AuditSink } from './audit.ts';

/** Audit events as lines of the log with `"audit": true`, for a collector to route by. */
export function auditLog(logger: Logger): AuditSink {
  const audit = logger.child({ audit: true });
  return { record: (event) => audit.info(event, 'audit') };
}
