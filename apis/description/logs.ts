import { Type } from 'typebox';
import { groupName, RESOURCE, tenantGroupName, VERSION } from '../logging/v1alpha2/group-version.ts';
import {
  LogHistogramAnswerSchema,
  LogQueryAnswerSchema,
  LogStatisticsAnswerSchema,
} from '../logging/v1alpha2/log-answer.ts';
import { LogQuerySchema } from '../logging/v1alpha2/log-query.ts';
import { errors, type Operation } from './operation.ts';
import { COMMON_ERRORS, SIGNED_IN } from './refusals.ts';

/** What a query is answered with follows from its operation. */
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

/** Log queries under both of their groups, and what they took the place of. */
export function logOperations(platform: string): Operation[] {
  const group = groupName(platform);
  const ask = { tag: 'logs', security: SIGNED_IN } as const;
  const query = {
    ...ask,
    summary: 'Lines of logs, counts, histograms, exports and live tails',
    description:
      'Shows lines of the namespaces where the caller may `get pods/log`. Exports and live tails are streams of their own type.',
    query: LogQuerySchema,
  };
  const refused = errors(
    {
      ...COMMON_ERRORS,
      404: 'The record of `context` is gone.',
      431: 'The parameters are longer than the server takes.',
    },
    'Status',
  );
  const found = {
    description: 'The answer, by operation; of an export the file, of `follow` the lines as they come.',
    type: 'application/json',
    schema: 'LogAnswer',
    furtherTypes: ['text/plain', 'text/csv', 'application/x-ndjson', 'text/event-stream'],
  };
  const queries = [tenantGroupName(platform), group].flatMap((name, index): Operation[] => {
    const path = `/kapis/${name}/${VERSION}/${RESOURCE}`;
    const id = index === 0 ? 'TenantLogs' : 'Logs';
    const head = { description: 'Headers of the answer to GET.' };
    return [
      { ...query, path, method: 'get', id: `query${id}`, answers: { 200: found, ...refused } },
      { ...query, path, method: 'head', id: `head${id}`, answers: { 200: head, ...refused } },
    ];
  });
  // Gone, whatever they are called with.
  const name = Type.String({ minLength: 1 });
  const gone = errors({ ...COMMON_ERRORS, 410: 'Removed; the message names what to ask instead.' }, 'Status');
  const removed = (path: string, id: string, segments: Operation['segments']): Operation => ({
    ...ask,
    path: `/kapis/${group}/${VERSION}/${path}`,
    method: 'get',
    id,
    summary: 'Removed in release 3.3',
    ...(segments ? { segments } : {}),
    answers: gone,
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
