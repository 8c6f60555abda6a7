import { Type } from 'typebox';
import { STATUS_REASONS } from './status.ts';

const strict = { additionalProperties: false } as const;

/** The wire form of Status in status.ts. */
export const StatusSchema = Type.Object(
  {
    kind: Type.Literal('Status'),
    apiVersion: Type.Literal('v1'),
    metadata: Type.Object(
      {
        continue: Type.Optional(
          Type.String({ description: 'Of an expired page: goes on with the newest list.' }),
        ),
      },
      strict,
    ),
    status: Type.Enum(['Success', 'Failure']),
    message: Type.String({ description: 'For people.' }),
    reason: Type.Optional(Type.Enum([...STATUS_REASONS], { description: 'For programs.' })),
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
                    Type.String({ description: 'The parameter or the member of the body at fault.' }),
                  ),
                },
                strict,
              ),
            ),
          ),
          retryAfterSeconds: Type.Optional(
            Type.Integer({ minimum: 0, description: 'Also in the header Retry-After.' }),
          ),
        },
        strict,
      ),
    ),
    code: Type.Integer({ description: 'The HTTP status.' }),
  },
  { ...strict, description: 'How every path of Kubernetes and of the platform answers an error.' },
);
