// Describes the log query operations in OpenAPI.
import { groupName, RESOURCE, tenantGroupName, VERSION } from '../logging/v1alpha2/group-version.ts';
import {
  LogHistogramAnswerSchema,
  LogQueryAnswerSchema,
  LogStatisticsAnswerSchema,
} from '../logging/v1alpha2/log-answer.ts';
import { LogQuerySchema } from '../logging/v1alpha2/log-query.ts';
import { Type } from '../reading/json-schema.ts';
import { AUTHENTICATED, COMMON_ERRORS } from './filter-chain-errors.ts';
import { errors, type Operation } from './operation.ts';

/** Responses of log queries, by operation. */
export const LOG_SCHEMAS = {
  LogQueryAnswer: LogQueryAnswerSchema,
  LogStatisticsAnswer: LogStatisticsAnswerSchema,
  LogHistogramAnswer: LogHistogramAnswerSchema,
  LogAnswer: Type.Union([
    Type.Ref('#/components/schemas/LogQueryAnswer'),
    Type.Ref('#/components/schemas/LogStatisticsAnswer'),
    Type.Ref('#/components/schemas/LogHistogramAnswer'),
    Type.Array(Type.Object({}), { description: 'An export with `format=json`.' }),
  ]),
};

/** Returns the operations of log queries in both API groups, and the removed operations that they replace. */
export function logOperations(platform: string): Operation[] {
  const group = groupName(platform);
  const common = { tag: 'logs', security: AUTHENTICATED } as const;
  const query = {
    ...common,
    summary: 'Log lines, counts, histograms, exports and live tails',
    description:
      'Returns lines of the namespaces in which the caller has the permission `get pods/log`. Exports and live tails are streams with their own media type.',
    query: LogQuerySchema,
  };
  const chainErrors = errors(
    {
      ...COMMON_ERRORS,
      404: 'The record of `context` does not exist, or the caller has no permission to read it.',
      431: 'The parameters exceed the limit of the server.',
    },
    'Status',
  );
  const found = {
    description:
      'The response of the operation: JSON, the file of an export, or a stream of lines with `follow`.',
    type: 'application/json',
    schema: 'LogAnswer',
    furtherTypes: ['text/plain', 'text/csv', 'application/x-ndjson', 'text/event-stream'],
  };
  const queries = [tenantGroupName(platform), group].flatMap((name, index): Operation[] => {
    const path = `/kapis/${name}/${VERSION}/${RESOURCE}`;
    const id = index === 0 ? 'TenantLogs' : 'Logs';
    const head = { description: 'The headers of GET.' };
    return [
      { ...query, path, method: 'get', id: `query${id}`, responses: { 200: found, ...chainErrors } },
      { ...query, path, method: 'head', id: `head${id}`, responses: { 200: head, ...chainErrors } },
    ];
  });
  // The removed operations return 410 for all parameters.
  const name = Type.String({ minLength: 1 });
  const gone = errors({ ...COMMON_ERRORS, 410: 'Removed; the message names the replacement.' }, 'Status');
  const removed = (path: string, id: string, segments: Operation['segments']): Operation => ({
    ...common,
    path: `/kapis/${group}/${VERSION}/${path}`,
    method: 'get',
    id,
    summary: 'Removed in release 3.3',
    ...(segments ? { segments } : {}),
    responses: gone,
  });
  const namespace = 'namespaces/{namespace}';
  return [
    ...queries,
    removed('cluster', 'removedClusterLogs', undefined),
    removed('workspaces/{workspace}', 'removedWorkspaceLogs', { workspace: name }),
    removed(namespace, 'removedNamespaceLogs', { namespace: name }),
    removed(`${namespace}/workloads/{workload}`, 'removedWorkloadLogs', { namespace: name, workload: name }),
    removed(`${namespace}/pods/{pod}`, 'removedPodLogs', { namespace: name, pod: name }),
  ];
}
