import type { FieldNames } from '../../server/logging/backends/victorialogs/selection/fields.ts';

/** As hack/log-stores loads them, and as the configuration has them when nobody changes it. */
export const FIELDS: FieldNames = {
  message: '_msg',
  namespace: 'kubernetes.namespace_name',
  pod: 'kubernetes.pod_name',
  container: 'kubernetes.container_name',
  containerID: 'kubernetes.docker_id',
};
