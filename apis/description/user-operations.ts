// Describes the users API in OpenAPI.
import { MAX_USER_NAME, USER_NAME_PATTERN } from '../iam/v1beta1/custom-resource.ts';
import { groupName, VERSION } from '../iam/v1beta1/group-version.ts';
import { UserQuerySchema } from '../iam/v1beta1/requests.ts';
import { UserSchema } from '../iam/v1beta1/user-resource.ts';
import { Type } from '../reading/json-schema.ts';
import { AUTHENTICATED, COMMON_ERRORS } from './filter-chain-errors.ts';
import { errors, type Operation } from './operation.ts';

const type = 'application/json';
const common = { tag: 'users', security: AUTHENTICATED } as const;
const chainErrors = errors(COMMON_ERRORS, 'Status');
const unreadable = errors(
  {
    413: 'The body is too large.',
    415: 'The body is not JSON.',
    422: 'The body is invalid; the causes name every invalid field.',
  },
  'Status',
);
const absent = errors({ 404: 'The user does not exist.' }, 'Status');
const conflicting = errors({ 409: 'The user already exists, or was modified by another request.' }, 'Status');
const done = { description: 'Success.', type, schema: 'Status' };
const user = { description: 'The user.', type, schema: 'User' };

/** A user in responses. */
export const UserResponseSchema = Type.Object({
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

/** Returns the operations on users. They require RBAC permissions on `users` of the API group. */
export function userOperations(platform: string): Operation[] {
  const path = `/kapis/${groupName(platform)}/${VERSION}/users`;
  const segments = { name: Type.String({ pattern: USER_NAME_PATTERN, maxLength: MAX_USER_NAME }) };
  const one = { ...common, path: `${path}/{name}`, segments };
  return [
    {
      ...common,
      path,
      method: 'get',
      id: 'listUsers',
      summary: 'List users',
      query: UserQuerySchema,
      responses: { 200: { description: 'A page of users.', type, schema: 'UserList' }, ...chainErrors },
    },
    {
      ...common,
      path,
      method: 'post',
      id: 'createUser',
      summary: 'Create a user without a password',
      description: 'Adding the user to a group requires permission to impersonate the group.',
      body: { type, schema: 'NewUser', required: true },
      responses: { 201: user, ...chainErrors, ...unreadable, ...conflicting },
    },
    {
      ...one,
      method: 'get',
      id: 'getUser',
      summary: 'Get a user',
      responses: { 200: user, ...chainErrors, ...absent },
    },
    {
      ...one,
      method: 'put',
      id: 'replaceUser',
      summary: 'Replace a user',
      description:
        'If the body has a resourceVersion, it must match the stored one. Disabling a user terminates its sessions. Adding or removing a group requires permission to impersonate the group.',
      body: { type, schema: 'ReplacedUser', required: true },
      responses: { 200: user, ...chainErrors, ...unreadable, ...conflicting, ...absent },
    },
    {
      ...one,
      method: 'delete',
      id: 'deleteUser',
      summary: 'Delete a user with its password and sessions',
      responses: { 200: done, ...chainErrors, ...conflicting, ...absent },
    },
    {
      ...one,
      path: `${path}/{name}/password`,
      method: 'put',
      id: 'setPassword',
      summary: 'Set a password and terminate all sessions',
      description:
        "To change your own password, send the current password. To set another user's password, you need permission to impersonate the user and all its groups.",
      body: { type, schema: 'PasswordChange', required: true },
      responses: { 200: done, ...chainErrors, ...unreadable, ...conflicting, ...absent },
    },
    {
      ...one,
      path: `${path}/{name}/factor-reset`,
      method: 'post',
      id: 'resetFactors',
      summary: 'Replace the second factors by a one-time code, and terminate all sessions',
      description: 'You need permission to impersonate the user and all its groups. The request has no body.',
      responses: {
        201: { description: 'The one-time code.', type, schema: 'FactorReset' },
        ...chainErrors,
        ...absent,
      },
    },
  ];
}
