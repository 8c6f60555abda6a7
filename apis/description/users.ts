import { Type } from 'typebox';
import { MAX_USER_NAME, USER_NAME_PATTERN } from '../iam/v1beta1/custom-resource.ts';
import { groupName, VERSION } from '../iam/v1beta1/group-version.ts';
import { UserQuerySchema } from '../iam/v1beta1/requests.ts';
import { UserSchema } from '../iam/v1beta1/user.ts';
import { errors, type Operation } from './operation.ts';
import { COMMON_ERRORS, SIGNED_IN } from './refusals.ts';

const type = 'application/json';
const ask = { tag: 'users', security: SIGNED_IN } as const;
const refused = errors(COMMON_ERRORS, 'Status');
const unreadable = errors(
  {
    413: 'The body is too large.',
    415: 'The body is not JSON.',
    422: 'The body is invalid; the causes name every invalid field.',
  },
  'Status',
);
const absent = errors({ 404: 'There is no such user.' }, 'Status');
const conflicting = errors({ 409: 'The user is there already, or was changed in the meantime.' }, 'Status');
const done = { description: 'Done.', type, schema: 'Status' };
const user = { description: 'The user.', type, schema: 'User' };

/** A user as it is answered. */
export const AnsweredUserSchema = Type.Object({
  apiVersion: Type.String(),
  kind: Type.Literal('User'),
  ...UserSchema.properties,
});

export const UserListSchema = Type.Object(
  {
    kind: Type.Literal('UserList'),
    apiVersion: Type.String(),
    metadata: Type.Object({}),
    items: Type.Array(Type.Ref('#/components/schemas/User')),
    totalItems: Type.Integer({ minimum: 0, description: 'How many there are on all pages.' }),
  },
  { additionalProperties: false },
);

/** REST for users; rights are those of RBAC on users of the group. */
export function userOperations(platform: string): Operation[] {
  const path = `/kapis/${groupName(platform)}/${VERSION}/users`;
  const segments = { name: Type.String({ pattern: USER_NAME_PATTERN, maxLength: MAX_USER_NAME }) };
  const one = { ...ask, path: `${path}/{name}`, segments };
  return [
    {
      ...ask,
      path,
      method: 'get',
      id: 'listUsers',
      summary: 'Users by name',
      query: UserQuerySchema,
      answers: { 200: { description: 'A page.', type, schema: 'UserList' }, ...refused },
    },
    {
      ...ask,
      path,
      method: 'post',
      id: 'createUser',
      summary: 'Makes a user, who has no password yet',
      description: 'Granting a group requires permission to impersonate it.',
      body: { type, schema: 'NewUser', required: true },
      answers: { 201: user, ...refused, ...unreadable, ...conflicting },
    },
    {
      ...one,
      method: 'get',
      id: 'getUser',
      summary: 'One user',
      answers: { 200: user, ...refused, ...absent },
    },
    {
      ...one,
      method: 'put',
      id: 'replaceUser',
      summary: 'Replaces what is known of a user',
      description:
        'With a resourceVersion only that version is replaced. Disabling a user ends the sessions. Granting or removing a group requires permission to impersonate it.',
      body: { type, schema: 'ReplacedUser', required: true },
      answers: { 200: user, ...refused, ...unreadable, ...conflicting, ...absent },
    },
    {
      ...one,
      method: 'delete',
      id: 'deleteUser',
      summary: 'Removes a user with password and sessions',
      answers: { 200: done, ...refused, ...conflicting, ...absent },
    },
    {
      ...one,
      path: `${path}/{name}/password`,
      method: 'put',
      id: 'setPassword',
      summary: 'Sets a password and ends all sessions',
      description:
        'The own one by who knows the current one; another by who may impersonate that user and all its groups.',
      body: { type, schema: 'PasswordChange', required: true },
      answers: { 200: done, ...refused, ...unreadable, ...conflicting, ...absent },
    },
  ];
}
