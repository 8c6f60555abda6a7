// Tests of the authorizer that allows some requests to every authenticated caller.
import { expect } from 'chai';
import type { UserInfo } from '../../../../server/authentication/user.ts';
import { ANONYMOUS } from '../../../../server/authentication/user.ts';
import type { ResourceAttributes } from '../../../../server/authorization/authorizer.ts';
import { openToAuthenticated } from '../../../../server/authorization/open-to-authenticated.ts';

const ANN: UserInfo = { name: 'ann', uid: '', groups: ['system:authenticated'], extra: {} };
const LOGS: ResourceAttributes = {
  user: ANN,
  verb: 'list',
  group: 'g',
  version: 'v1',
  resource: 'logs',
  subresource: '',
  namespace: '',
  name: '',
};
const scope = { signal: new AbortController().signal };

describe('openToAuthenticated', () => {
  const authorizer = openToAuthenticated(
    { authorize: () => ({ allowed: false, reason: 'delegated' }) },
    ({ resource }) => resource === 'logs',
  );

  it('allows authenticated callers', () => {
    expect(authorizer.authorize(LOGS, scope)).to.include({ allowed: true });
  });

  it('requires the permission of anonymous callers', () => {
    expect(authorizer.authorize({ ...LOGS, user: ANONYMOUS }, scope)).to.include({ reason: 'delegated' });
  });

  it('allows nothing else', () => {
    expect(authorizer.authorize({ ...LOGS, resource: 'nodes' }, scope)).to.include({ reason: 'delegated' });
    expect(authorizer.authorize({ user: ANN, verb: 'get', path: '/logs' }, scope)).to.include({
      reason: 'delegated',
    });
  });
});
