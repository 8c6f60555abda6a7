// Creates a VictoriaLogs log store for tests, configured with the field names of the test records.
import type { FieldNames } from '../../../server/logging/backends/victorialogs/logsql.ts';
import {
  VictoriaLogsLogStore,
  type VictoriaLogsOptions,
} from '../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';

/** The defaults of the configuration; hack/log-stores loads records with these fields. */
export const FIELDS: FieldNames = {
  namespace: 'kubernetes.namespace_name',
  pod: 'kubernetes.pod_name',
  container: 'kubernetes.container_name',
  containerID: 'kubernetes.docker_id',
};

/** `run` with an aborted signal closes it. */
export function storeAt(url: string, rest: Partial<VictoriaLogsOptions> = {}): VictoriaLogsLogStore {
  return new VictoriaLogsLogStore({ url, fields: FIELDS, ...rest });
}
