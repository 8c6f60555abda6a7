import { randomUUID } from 'node:crypto';
import type { Filter } from './exchange.ts';

// The form of kube-apiserver's own ids, and a bound: the id goes into every log line and back into a header.
const WELL_FORMED = /^[A-Za-z0-9._-]{1,64}$/;

/** The aggregator's `Audit-Id`, so that both servers' lines can be found by one id; else an id of our own. */
export const requestID: Filter = (exchange) => {
  const given = exchange.request.headers['audit-id'];
  exchange.auditID = typeof given === 'string' && WELL_FORMED.test(given) ? given : randomUUID();
  exchange.response.setHeader('Audit-Id', exchange.auditID);
  exchange.response.setHeader('Cache-Control', 'no-cache, private');
};
