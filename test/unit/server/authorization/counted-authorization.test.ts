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

describe('an authorizer whose decisions are counted', () => {
  const counted: string[] = [];
  const decide = async (authorize: Authorizer['authorize']): Promise<unknown> => {
    const subject = countedAuthorization(
      { authorize },
      { authorized: (result) => void counted.push(result) },
    );
    return subject.authorize(attributes, scope);
  };

  beforeEach(() => counted.splice(0));

  it('decides as the one within', async () => {
    const yes = { allowed: true, reason: 'rbac' };
    const no = { allowed: false, reason: '' };
    expect(await decide(() => yes)).to.equal(yes);
    expect(await decide(() => Promise.resolve(no))).to.equal(no);
    expect(counted).to.deep.equal(['allowed', 'denied']);
  });

  it('decides nothing when that could not, at once or later', async () => {
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
