// The JSON Schema of Status, for the OpenAPI documents.
import { Type } from 'typebox';
import { STATUS_REASONS } from './status.ts';

const strict = { additionalProperties: false } as const;

export const StatusSchema = Type.Object(
  {
    kind: Type.Literal('Status'),
    apiVersion: Type.Literal('v1'),
    metadata: Type.Object(
      {
        continue: Type.Optional(
          Type.String({
            description:
              'For an expired continue token: a token that continues at the current resourceVersion.',
          }),
        ),
      },
      strict,
    ),
    status: Type.Enum(['Success', 'Failure']),
    message: Type.String({ description: 'A description for people.' }),
    reason: Type.Optional(Type.Enum([...STATUS_REASONS], { description: 'A reason for programs.' })),
    details: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Type.String()),
          group: Type.Optional(Type.String()),
          kind: Type.Optional(Type.String()),
          uid: Type.Optional(Type.String()),
          causes: Type.Optional(
            Type.Array(
              Type.Object(
                {
                  reason: Type.Optional(Type.String()),
                  message: Type.String(),
                  field: Type.Optional(
                    Type.String({ description: 'The invalid parameter or member of the body.' }),
                  ),
                },
                strict,
              ),
            ),
          ),
          retryAfterSeconds: Type.Optional(
            Type.Integer({ minimum: 0, description: 'Also sent as the header Retry-After.' }),
          ),
        },
        strict,
      ),
    ),
    code: Type.Integer({ description: 'The HTTP status.' }),
  },
  { ...strict, description: 'The error response of all paths of Kubernetes and of the platform.' },
);
