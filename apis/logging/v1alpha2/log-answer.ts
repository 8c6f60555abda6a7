// JSON Schemas and TypeScript types of the responses to log queries.
import type { Static } from 'typebox';
import { Type } from '../../reading/json-schema.ts';
import { SEVERITIES, type Severity } from './log-query.ts';

/** Reasons of a partial result. */
const SHORTFALL_REASONS = [
  'Timeout',
  'ShardFailed',
  'NotCovered',
  'Limit',
  'StoreFailed',
  'ScopeChanged',
] as const;

const ShortfallSchema = Type.Object(
  {
    reason: Type.Unsafe<(typeof SHORTFALL_REASONS)[number]>({
      type: 'string',
      enum: [...SHORTFALL_REASONS],
      description: 'Machine-readable reason.',
    }),
    message: Type.String({ description: 'Human-readable description of what is missing.' }),
  },
  { additionalProperties: false },
);
export type Shortfall = Readonly<Static<typeof ShortfallSchema>>;

const RELATION = Type.Unsafe<'eq' | 'gte'>({
  type: 'string',
  enum: ['eq', 'gte'],
  description: '`eq`: the total is exact; `gte`: the total is a lower bound.',
});
const outcome = {
  took: Type.Integer({ minimum: 0, description: 'Duration of the query in milliseconds.' }),
  partial: Type.Optional(
    Type.Array(ShortfallSchema, {
      minItems: 1,
      description: 'Present if the result is partial.',
    }),
  ),
};

const LogRecordSchema = Type.Object(
  {
    log: Type.String({ description: 'The line as written by the container.' }),
    time: Type.String({ description: 'RFC 3339 in UTC with nine fractional digits.' }),
    namespace: Type.String({ description: 'Namespace of the pod.' }),
    pod: Type.String({ description: 'Name of the pod.' }),
    container: Type.String({ description: 'Name of the container.' }),
    id: Type.String({ description: 'Identifies the record, for `context`.' }),
    highlights: Type.Optional(
      Type.Array(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 2 }), {
        description: 'Begin and exclusive end of each match, in UTF-16 code units.',
      }),
    ),
    severity: Type.Optional(
      Type.Unsafe<Severity>({
        type: 'string',
        enum: [...SEVERITIES],
        description: 'Most severe level of the line. Present with `severity=true`.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ResponseRecord = Static<typeof LogRecordSchema>;

const LogScopeSchema = Type.Object(
  {
    total: Type.Integer({ minimum: 0, description: 'Number of these namespaces.' }),
    namespaces: Type.Array(Type.String(), { description: 'The first 20 by name.' }),
  },
  {
    additionalProperties: false,
    description:
      'Namespaces of the query whose logs the caller is allowed to read. Absent for a caller who is allowed to read all logs.',
  },
);
export type LogScope = Static<typeof LogScopeSchema>;

export const LogQueryAnswerSchema = Type.Object(
  {
    query: Type.Object(
      {
        total: Type.Integer({ minimum: 0, description: 'Number of matching lines.' }),
        totalRelation: RELATION,
        scope: Type.Optional(LogScopeSchema),
        records: Type.Array(LogRecordSchema, { description: 'Lines of the page.' }),
        cursor: Type.Optional(
          Type.String({ description: 'Cursor of the next page; absent on the last page.' }),
        ),
      },
      { additionalProperties: false, description: 'A page of lines.' },
    ),
    ...outcome,
  },
  { additionalProperties: false },
);

export const LogStatisticsAnswerSchema = Type.Object(
  {
    statistics: Type.Object(
      {
        containers: Type.Integer({ minimum: 0, description: 'Number of distinct containers of the lines.' }),
        containersApproximate: Type.Optional(
          Type.Boolean({ description: 'True if the number of containers is an estimate.' }),
        ),
        logs: Type.Integer({ minimum: 0, description: 'Number of matching lines.' }),
        logsRelation: RELATION,
      },
      { additionalProperties: false, description: 'Number of lines and of their containers.' },
    ),
    ...outcome,
  },
  { additionalProperties: false },
);

const countOf = (lines: string) => Type.Integer({ minimum: 0, description: `Number of ${lines}.` });
const SEVERITY_COUNTS = {
  fatal: countOf('lines with the most severe level `fatal`'),
  error: countOf('lines with the most severe level `error`'),
  warn: countOf('lines with the most severe level `warn`'),
  info: countOf('lines with the most severe level `info`'),
  debug: countOf('lines with the most severe level `debug`'),
  none: countOf('lines without a level'),
};

export const LogHistogramAnswerSchema = Type.Object(
  {
    histogram: Type.Object(
      {
        total: Type.Integer({ minimum: 0, description: 'Number of matching lines.' }),
        totalRelation: RELATION,
        histograms: Type.Array(
          Type.Object(
            {
              time: Type.Integer({ description: 'Start of the bucket, in milliseconds since the epoch.' }),
              count: Type.Integer({ minimum: 0, description: 'Number of lines in the bucket.' }),
              severities: Type.Optional(
                Type.Object(SEVERITY_COUNTS, {
                  additionalProperties: false,
                  description: 'Number of lines by most severe level. Present with `severity=true`.',
                }),
              ),
            },
            { additionalProperties: false },
          ),
          { description: 'Buckets in the order of time, including empty ones.' },
        ),
      },
      { additionalProperties: false, description: 'Number of lines by time.' },
    ),
    ...outcome,
  },
  { additionalProperties: false },
);

export type LogQueryAnswer = Static<typeof LogQueryAnswerSchema>;
export type LogStatisticsAnswer = Static<typeof LogStatisticsAnswerSchema>;
export type LogHistogramAnswer = Static<typeof LogHistogramAnswerSchema>;
