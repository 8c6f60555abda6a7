// Tests of the authorizer that counts decisions.
import { expect } from 'chai';
import type { Attributes, Authorizer } from '../../../../server/authorization/authorizer.ts';
import { countedAuthorization } from '../../../../server/authorization/counted-authorization.ts';

const attributes: Attributes = {
  user: { name: 'bob', uid: '', groups: [], extra: {} },
  verb: 'get',
  path: '/metrics',
};
const scope = { signal: new AbortController().signal };
const silence = new Error('the cluster is silent');

describe('countedAuthorization', () => {
  const counted: string[] = [];
  const decide = async (authorize: Authorizer['authorize']): Promise<unknown> => {
    const subject = countedAuthorization(
      { authorize },
      { authorized: (result) => void counted.push(result) },
    );
    return subject.authorize(attributes, scope);
  };

  beforeEach(() => counted.splice(0));

  it('returns and counts the decision of the wrapped authorizer', async () => {
    const yes = { allowed: true, reason: 'rbac' };
    const no = { allowed: false, reason: '' };
    expect(await decide(() => yes)).to.equal(yes);
    expect(await decide(() => Promise.resolve(no))).to.equal(no);
    expect(counted).to.deep.equal(['allowed', 'denied']);
  });

  it('rethrows and counts errors, synchronous or not', async () => {
    const failing: Authorizer['authorize'][] = [
      () => Promise.reject(silence),
      () => {
        throw silence;
      },
    ];
    for (const authorize of failing) {
      expect(await decide(authorize).catch((error: unknown) => error)).to.equal(silence);
    }
    expect(counted).to.deep.equal(['error', 'error']);
  });
});
