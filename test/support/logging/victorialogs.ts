import pino from 'pino';
import type { FieldNames } from '../../../server/logging/backends/victorialogs/logsql.ts';
import { VictoriaLogsLogStore } from '../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';

/** As hack/log-stores loads them, and as the configuration has them when nobody changes it. */
export const FIELDS: FieldNames = {
  message: '_msg',
  namespace: 'kubernetes.namespace_name',
  pod: 'kubernetes.pod_name',
  container: 'kubernetes.container_name',
  containerID: 'kubernetes.docker_id',
};

/** To be closed by `run` with a signal that is aborted. */
export function storeAt(url: string): VictoriaLogsLogStore {
  return new VictoriaLogsLogStore({ url, fields: FIELDS, log: pino({ level: 'silent' }) });
}
