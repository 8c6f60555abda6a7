// The answers that the platform's operations share, as OpenAPI 3.1 describes them.

export type Description = Readonly<Record<string, unknown>>;

export const STATUS_REF = { $ref: '#/components/schemas/Status' } as const;

const REFUSALS = {
  400: 'The request can not be read. `details.causes` names every fault.',
  401: 'The credentials do not count.',
  403: 'The caller may not do this.',
  404: 'There is no such thing.',
  406: 'The client takes no JSON.',
  429: 'Too many requests at once.',
  503: 'Not at the moment: the header `Retry-After` says when to ask again.',
  504: 'Not in time.',
} as const;

/** Answers with a Status, under these codes. */
export function refusals(...codes: readonly (keyof typeof REFUSALS)[]): Description {
  return Object.fromEntries(
    codes.map((code) => [
      code,
      {
        description: REFUSALS[code],
        content: { 'application/json': { schema: STATUS_REF } },
      },
    ]),
  );
}

export const ETAG = {
  ETag: { description: 'Names this state of the answer, for `If-None-Match`.', schema: { type: 'string' } },
} as const;

export const UNCHANGED: Description = {
  304: { description: 'It is still what the client has.', headers: ETAG },
};

export const IF_NONE_MATCH: Description = {
  name: 'If-None-Match',
  in: 'header',
  description: 'Entity tags of what the client has already.',
  schema: { type: 'string' },
};

export const STATUS_SCHEMA: Description = {
  type: 'object',
  description: 'The one shape of errors of these paths, as in Kubernetes.',
  required: ['kind', 'apiVersion', 'metadata', 'status', 'message', 'code'],
  properties: {
    kind: { const: 'Status' },
    apiVersion: { const: 'v1' },
    metadata: { type: 'object' },
    status: { enum: ['Success', 'Failure'] },
    message: { type: 'string' },
    reason: { type: 'string', description: 'One word for programs, for instance `NotFound`.' },
    details: {
      type: 'object',
      properties: {
        causes: {
          type: 'array',
          items: {
            type: 'object',
            required: ['message'],
            properties: {
              reason: { type: 'string' },
              message: { type: 'string' },
              field: { type: 'string', description: 'The parameter at fault.' },
            },
          },
        },
        retryAfterSeconds: { type: 'integer' },
      },
    },
    code: { type: 'integer', description: 'The HTTP status.' },
  },
};
