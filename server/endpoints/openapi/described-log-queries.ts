// Describes log queries in the OpenAPI v2 and v3 documents for kube-apiserver.
import { KIND, RESOURCE, VERSION } from '../../../apis/logging/v1alpha2/group-version.ts';
import {
  LogHistogramAnswerSchema,
  LogQueryAnswerSchema,
  LogStatisticsAnswerSchema,
} from '../../../apis/logging/v1alpha2/log-answer.ts';
import { LogQuerySchema } from '../../../apis/logging/v1alpha2/log-query.ts';
import { text } from '../../../apis/reading/unknown-value.ts';
import { type DescribedGroup, type Parameter, schemaName } from './operations.ts';
import type { Schema } from './schemas.ts';

/** Returns the operation and its schema. `group`: for instance `logging.platform.io`. */
export function describedLogQueries(group: string): DescribedGroup {
  const kind = { group, version: VERSION, kind: KIND };
  const name = schemaName(kind);
  return {
    group,
    version: VERSION,
    operations: [
      {
        path: `/apis/${group}/${VERSION}/${RESOURCE}`,
        id: 'queryLogs',
        description: 'query lines of logs',
        action: 'get',
        kind,
        schema: name,
        parameters: Object.entries(LogQuerySchema.properties).map(([parameter, schema]) =>
          parameterOf(parameter, schema),
        ),
      },
    ],
    schemas: new Map([[name, answer(kind)]]),
  };
}

function parameterOf(name: string, schema: object): Parameter {
  const { type, description }: Schema = { ...schema };
  return {
    name,
    in: 'query',
    type: type === 'integer' || type === 'boolean' ? type : 'string',
    description: text(description),
  };
}

/** Returns one schema for all responses. A response has only the fields of its operation. */
function answer(kind: object): Schema {
  const { query } = LogQueryAnswerSchema.properties;
  const { statistics } = LogStatisticsAnswerSchema.properties;
  const { histogram, took, partial } = LogHistogramAnswerSchema.properties;
  const properties: unknown = JSON.parse(JSON.stringify({ query, statistics, histogram, took, partial }));
  return {
    type: 'object',
    description: 'The result of a log query: a page of lines, statistics or a histogram.',
    required: ['took'],
    properties,
    'x-kubernetes-group-version-kind': [kind],
  };
}
