// Tests of the authorizer that allows users to change their own password.
import { expect } from 'chai';
import { ANONYMOUS, type UserInfo } from '../../../../server/authentication/user.ts';
import type { Attributes, ResourceAttributes } from '../../../../server/authorization/authorizer.ts';
import { allowOwnPassword } from '../../../../server/authorization/own-password.ts';

const ANN: UserInfo = { name: 'ann', uid: '', groups: ['system:authenticated'], extra: {} };
const OWN: ResourceAttributes = {
  user: ANN,
  verb: 'update',
  group: 'iam.example.io',
  version: 'v1beta1',
  resource: 'users',
  subresource: 'password',
  namespace: '',
  name: 'ann',
};
const scope = { signal: new AbortController().signal };

describe('allowOwnPassword', () => {
  const authorizer = allowOwnPassword(
    { authorize: () => ({ allowed: false, reason: 'delegated' }) },
    'iam.example.io',
  );
  const decide = (attributes: Attributes): unknown => authorizer.authorize(attributes, scope);

  it('allows signed-in users to change their own password', () => {
    expect(decide(OWN)).to.include({ allowed: true });
  });

  const others: Record<string, Attributes> = {
    'the password of another user': { ...OWN, name: 'bob' },
    'the password of no user, for a caller without a name': { ...OWN, name: '', user: { ...ANN, name: '' } },
    'the password of a user with the name of an anonymous caller': {
      ...OWN,
      name: ANONYMOUS.name,
      user: ANONYMOUS,
    },
    'reading the password': { ...OWN, verb: 'get' },
    'deleting it': { ...OWN, verb: 'delete' },
    'the user itself': { ...OWN, subresource: '' },
    'the password of a session with the same name': { ...OWN, resource: 'sessions' },
    'the password of a user of another group': { ...OWN, group: 'other.example.io' },
    'a path': { user: ANN, verb: 'update', path: '/users/ann/password' },
  };
  it('allows nothing else', () => {
    for (const [what, attributes] of Object.entries(others)) {
      expect(decide(attributes), what).to.include({ allowed: false, reason: 'delegated' });
    }
  });
});
