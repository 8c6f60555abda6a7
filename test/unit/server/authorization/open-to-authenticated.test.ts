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

  it('allows authenticated callers the selected resources only', () => {
    expect(authorizer.authorize(LOGS, scope)).to.include({ allowed: true });
    for (const other of [
      { ...LOGS, user: ANONYMOUS },
      { ...LOGS, resource: 'nodes' },
      { user: ANN, verb: 'get', path: '/logs' },
    ]) {
      expect(authorizer.authorize(other, scope)).to.include({ reason: 'delegated' });
    }
  });
});
