// JSON Schema of the query parameters of `/kapis/resources.<platform>.io/v1alpha3/search`.
import { Type } from '../../reading/json-schema.ts';
import { MAX_SEARCHED } from './resource-query.ts';

/** Maximum number of kinds that a query names, and of matches of each kind. */
export const MAX_KINDS = 50;
export const MAX_MATCHES = 100;

export const SearchQuerySchema = Type.Object(
  {
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_SEARCHED,
        description: 'Text in names, aliases, namespaces, labels and images. Case-insensitive. Required.',
      }),
    ),
    kinds: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        maxItems: MAX_KINDS,
        description:
          'The kinds to search, as `plural` or `plural.group`; the server starts to follow them. Default: all kinds that it follows.',
      }),
    ),
    limit: Type.Integer({
      minimum: 1,
      maximum: MAX_MATCHES,
      default: 10,
      description: 'Matches of each kind.',
    }),
  },
  { additionalProperties: false },
);
