import { expect } from 'chai';
import { CallerRights } from '../../../../../server/logging/access/caller-rights.ts';
import { LookupCache } from '../../../../../server/memory/lookup-cache.ts';

describe('the rights that are remembered of callers', () => {
  const { signal } = new AbortController();
  const rightsOf = (most: { readonly callers: number; readonly rights: number }) => {
    const remembered = new CallerRights<string>({
      none: () =>
        new LookupCache({ size: 100, ttlMs: () => 60_000, maxPending: Number.POSITIVE_INFINITY, signal }),
      ...most,
    });
    const of = (name: string, token = '') =>
      remembered.of({ name, uid: '', groups: [], extra: { id: [token] } });
    return {
      /** How many are remembered. */
      size: (name: string, token?: string) => of(name, token).size,
      learn: async (count: number, name: string, token?: string) => {
        const rights = of(name, token);
        for (let n = 0; n < count; n++) await rights.get(`n-${n}`, () => Promise.resolve('yes'), { signal });
      },
    };
  };

  it('are those of one token', async () => {
    const rights = rightsOf({ callers: 10, rights: 100 });
    await rights.learn(3, 'jane', 'a');
    await rights.learn(4, 'jane', 'b');
    expect([rights.size('jane', 'a'), rights.size('jane', 'b')]).to.deep.equal([3, 4]);
  });

  it('are forgotten of who has not asked for longest, where there are too many callers', async () => {
    const rights = rightsOf({ callers: 3, rights: 100 });
    for (const name of ['a', 'b', 'c']) await rights.learn(1, name);
    await rights.learn(2, 'a');
    await rights.learn(1, 'd');
    expect(rights.size('a')).to.equal(2);
    expect(rights.size('b')).to.equal(0);
  });

  it('stay with others when one user comes with many tokens', async () => {
    const rights = rightsOf({ callers: 4, rights: 1_000 });
    await rights.learn(5, 'jane');
    for (let n = 0; n < 20; n++) await rights.learn(1, 'mallory', `${n}`);
    expect(rights.size('jane')).to.equal(5);
  });

  it('stay with others when one namespace comes with many service accounts', async () => {
    const rights = rightsOf({ callers: 4, rights: 1_000 });
    await rights.learn(5, 'system:serviceaccount:shop:cart');
    for (let n = 0; n < 20; n++) await rights.learn(1, `system:serviceaccount:evil:n-${n}`);
    expect(rights.size('system:serviceaccount:shop:cart')).to.equal(5);
  });

  it('are bounded for all together, at the cost of who has taken most', async () => {
    const rights = rightsOf({ callers: 10, rights: 100 });
    await rights.learn(30, 'jane');
    await rights.learn(10, 'john');
    for (const token of ['a', 'b', 'c', 'd']) await rights.learn(40, 'mallory', token);
    expect([rights.size('jane'), rights.size('john')]).to.deep.equal([30, 10]);
    expect(['a', 'b', 'c', 'd'].map((token) => rights.size('mallory', token))).to.deep.equal([0, 0, 0, 40]);
  });
});
