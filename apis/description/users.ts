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
const absent = errors({ 404: 'The user does not exist.' }, 'Status');
const conflicting = errors({ 409: 'The user exists already, or has been modified.' }, 'Status');
const done = { description: 'Success.', type, schema: 'Status' };
const user = { description: 'The user.', type, schema: 'User' };

/** A user in responses. */
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
    totalItems: Type.Integer({ minimum: 0, description: 'Number of users on all pages.' }),
  },
  { additionalProperties: false },
);

/** Operations on users. RBAC on `users` of the API group controls access. */
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
      summary: 'List users',
      query: UserQuerySchema,
      answers: { 200: { description: 'A page of users.', type, schema: 'UserList' }, ...refused },
    },
    {
      ...ask,
      path,
      method: 'post',
      id: 'createUser',
      summary: 'Create a user without a password',
      description: 'Granting a group requires permission to impersonate it.',
      body: { type, schema: 'NewUser', required: true },
      answers: { 201: user, ...refused, ...unreadable, ...conflicting },
    },
    {
      ...one,
      method: 'get',
      id: 'getUser',
      summary: 'Get a user',
      answers: { 200: user, ...refused, ...absent },
    },
    {
      ...one,
      method: 'put',
      id: 'replaceUser',
      summary: 'Replace a user',
      description:
        'A resourceVersion is a precondition. Disabling a user terminates the sessions. Granting or removing a group requires permission to impersonate it.',
      body: { type, schema: 'ReplacedUser', required: true },
      answers: { 200: user, ...refused, ...unreadable, ...conflicting, ...absent },
    },
    {
      ...one,
      method: 'delete',
      id: 'deleteUser',
      summary: 'Delete a user with password and sessions',
      answers: { 200: done, ...refused, ...conflicting, ...absent },
    },
    {
      ...one,
      path: `${path}/{name}/password`,
      method: 'put',
      id: 'setPassword',
      summary: 'Set a password and terminate all sessions',
      description:
        "Your own password requires the current one. Another user's password requires permission to impersonate the user and all its groups.",
      body: { type, schema: 'PasswordChange', required: true },
      answers: { 200: done, ...refused, ...unreadable, ...conflicting, ...absent },
    },
  ];
}
