// What log queries answer, as JSON Schema and types.
import { type Static, Type } from 'typebox';

/** Why an answer does not cover all that was asked for. */
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
      description: 'What is missing, for programs.',
    }),
    message: Type.String({ description: 'What is missing, for people.' }),
  },
  { additionalProperties: false },
);
export type Shortfall = Readonly<Static<typeof ShortfallSchema>>;

const RELATION = Type.Unsafe<'eq' | 'gte'>({
  type: 'string',
  enum: ['eq', 'gte'],
  description: '`eq`: the total is exact; `gte`: there are at least so many.',
});
const outcome = {
  took: Type.Integer({ minimum: 0, description: 'Milliseconds that the answer took.' }),
  partial: Type.Optional(
    Type.Array(ShortfallSchema, {
      minItems: 1,
      description: 'Present when the answer does not cover all that was asked for.',
    }),
  ),
};

const LogRecordSchema = Type.Object(
  {
    log: Type.String({ description: 'The line, as the container wrote it.' }),
    time: Type.String({ description: 'RFC 3339, UTC, nine digits behind the second.' }),
    namespace: Type.String({ description: 'Of the pod.' }),
    pod: Type.String({ description: 'Its name.' }),
    container: Type.String({ description: 'Its name in the pod.' }),
    id: Type.String({ description: 'Names the record, for `context`.' }),
    highlights: Type.Optional(
      Type.Array(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 2 }), {
        description: 'Begin and end, exclusive, of each place that was asked for; UTF-16 code units.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ResponseRecord = Static<typeof LogRecordSchema>;

export const LogQueryAnswerSchema = Type.Object(
  {
    query: Type.Object(
      {
        total: Type.Integer({ minimum: 0, description: 'Lines that were found.' }),
        totalRelation: RELATION,
        records: Type.Array(LogRecordSchema, { description: 'Lines of this page.' }),
        cursor: Type.Optional(Type.String({ description: 'Of the next page; absent behind the last.' })),
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
        containers: Type.Integer({ minimum: 0, description: 'Different containers that wrote the lines.' }),
        containersApproximate: Type.Optional(
          Type.Boolean({ description: 'True when the store only estimates the number of containers.' }),
        ),
        logs: Type.Integer({ minimum: 0, description: 'Lines that were found.' }),
        logsRelation: RELATION,
      },
      { additionalProperties: false, description: 'How many lines, and how many containers wrote them.' },
    ),
    ...outcome,
  },
  { additionalProperties: false },
);

export const LogHistogramAnswerSchema = Type.Object(
  {
    histogram: Type.Object(
      {
        total: Type.Integer({ minimum: 0, description: 'Lines that were found.' }),
        totalRelation: RELATION,
        histograms: Type.Array(
          Type.Object(
            {
              time: Type.Integer({ description: 'Beginning of the bucket, milliseconds since the epoch.' }),
              count: Type.Integer({ minimum: 0, description: 'Lines of the bucket.' }),
            },
            { additionalProperties: false },
          ),
          { description: 'Buckets, the first one first.' },
        ),
      },
      { additionalProperties: false, description: 'Lines by time.' },
    ),
    ...outcome,
  },
  { additionalProperties: false },
);

export type LogQueryAnswer = Static<typeof LogQueryAnswerSchema>;
export type LogStatisticsAnswer = Static<typeof LogStatisticsAnswerSchema>;
export type LogHistogramAnswer = Static<typeof LogHistogramAnswerSchema>;
