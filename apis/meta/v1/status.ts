// `meta.k8s.io/v1` Status, the error response of every Kubernetes path: its JSON Schema and its types.
import type { Static } from 'typebox';
import { Type } from '../../reading/json-schema.ts';

const strict = { additionalProperties: false } as const;
const text = (description?: string) =>
  Type.Optional(Type.String(description === undefined ? {} : { description }));

const StatusReasonSchema = Type.Enum(
  [
    'BadRequest',
    'Unauthorized',
    'Forbidden',
    'NotFound',
    'MethodNotAllowed',
    'NotAcceptable',
    'Conflict',
    'AlreadyExists',
    'Gone',
    'Expired',
    'Invalid',
    'RequestEntityTooLarge',
    'UnsupportedMediaType',
    'TooManyRequests',
    'InternalError',
    'ServiceUnavailable',
    'Timeout',
  ],
  { description: 'A reason for programs.' },
);

const StatusCauseSchema = Type.Object(
  {
    // Such as `FieldValueInvalid` or `ResourceVersionTooLarge`.
    reason: text(),
    message: Type.String(),
    field: text('The invalid parameter or member of the body.'),
  },
  strict,
);

const StatusDetailsSchema = Type.Object(
  {
    name: text(),
    group: text(),
    kind: text(),
    uid: text(),
    causes: Type.Optional(Type.Array(StatusCauseSchema)),
    retryAfterSeconds: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Also sent as the header Retry-After.' }),
    ),
  },
  strict,
);

export const StatusSchema = Type.Object(
  {
    kind: Type.Literal('Status'),
    apiVersion: Type.Literal('v1'),
    metadata: Type.Object(
      {
        continue: text(
          'For an expired continue token: a token that continues at the current resourceVersion.',
        ),
      },
      strict,
    ),
    status: Type.Enum(['Success', 'Failure']),
    message: Type.String({ description: 'A description for people.' }),
    reason: Type.Optional(StatusReasonSchema),
    details: Type.Optional(StatusDetailsSchema),
    code: Type.Integer({ description: 'The HTTP status.' }),
  },
  { ...strict, description: 'The error response of all paths of Kubernetes and of the platform.' },
);

export type StatusReason = Static<typeof StatusReasonSchema>;
export type StatusCause = Readonly<Static<typeof StatusCauseSchema>>;
export type StatusDetails = Readonly<
  Omit<Static<typeof StatusDetailsSchema>, 'causes'> & { readonly causes?: readonly StatusCause[] }
>;
export type Status = Readonly<
  Omit<Static<typeof StatusSchema>, 'details'> & { readonly details?: StatusDetails }
>;
