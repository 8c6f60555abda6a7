// Creates an OpenSearch log store for tests, configured with the field names of the test records.
import {
  OpenSearchLogStore,
  type OpenSearchLogStoreOptions,
} from '../../../server/logging/backends/opensearch/opensearch-log-store.ts';

/** Field names of the loaded records. */
export const FIELDS = {
  time: 'time',
  message: 'log',
  namespace: 'kubernetes.namespace_name',
  pod: 'kubernetes.pod_name',
  container: 'kubernetes.container_name',
  containerID: 'kubernetes.docker_id',
} as const;

export function storeAt(url: string, rest: Partial<OpenSearchLogStoreOptions> = {}): OpenSearchLogStore {
  return new OpenSearchLogStore({
    urls: [url],
    indexPrefix: 'logs',
    dailyIndices: true,
    fields: FIELDS,
    pageSize: 1_000,
    ...rest,
  });
}
