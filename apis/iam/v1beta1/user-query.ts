// The query of the list of users: each parameter once, as JSON Schema, from which validation, types and the
// description come.
import { type Static, Type } from 'typebox';

const MOST_OF_A_PAGE = 1000;
const LAST_PAGE = 2 ** 31 - 1;

export const UserQuerySchema = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        description: 'Users with this text in their name, display name or address, in any case.',
      }),
    ),
    group: Type.Optional(Type.String({ description: 'Users in the group of exactly this name.' })),
    disabled: Type.Optional(Type.Boolean({ description: 'Users that cannot sign in, or that can.' })),
    page: Type.Integer({
      minimum: 1,
      maximum: LAST_PAGE,
      default: 1,
      description: 'Which page, from 1. A page behind the last one has no items.',
    }),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MOST_OF_A_PAGE, description: 'Items of a page; all without it.' }),
    ),
  },
  { additionalProperties: false },
);

export type UserQuery = Readonly<Static<typeof UserQuerySchema>>;
