import { expect } from 'chai';
import { PermissionCache } from '../../../../../server/logging/access/scope.ts';
import { LookupCache } from '../../../../../server/memory/lookup-cache.ts';

describe('PermissionCache', () => {
  const { signal } = new AbortController();
  const newPermissions = (limits: { readonly callers: number; readonly permissions: number }) => {
    const cache = new PermissionCache<string>({
      newCache: () =>
        new LookupCache({ size: 100, ttlMs: () => 60_000, maxPending: Number.POSITIVE_INFINITY, signal }),
      ...limits,
    });
    const of = (name: string, token = '') => cache.of({ name, uid: '', groups: [], extra: { id: [token] } });
    return {
      size: (name: string, token?: string) => of(name, token).size,
      add: async (count: number, name: string, token?: string) => {
        const caller = of(name, token);
        for (let n = 0; n < count; n++) await caller.get(`n-${n}`, () => Promise.resolve('yes'), { signal });
      },
    };
  };

  it('caches the permissions of each token separately', async () => {
    const permissions = newPermissions({ callers: 10, permissions: 100 });
    await permissions.add(3, 'jane', 'a');
    await permissions.add(4, 'jane', 'b');
    expect([permissions.size('jane', 'a'), permissions.size('jane', 'b')]).to.deep.equal([3, 4]);
  });

  it('evicts the least recently used caller', async () => {
    const permissions = newPermissions({ callers: 3, permissions: 100 });
    for (const name of ['a', 'b', 'c']) await permissions.add(1, name);
    await permissions.add(2, 'a');
    await permissions.add(1, 'd');
    expect(permissions.size('a')).to.equal(2);
    expect(permissions.size('b')).to.equal(0);
  });

  it('does not evict other users when one user has many tokens', async () => {
    const permissions = newPermissions({ callers: 4, permissions: 1_000 });
    await permissions.add(5, 'jane');
    for (let n = 0; n < 20; n++) await permissions.add(1, 'mallory', `${n}`);
    expect(permissions.size('jane')).to.equal(5);
  });

  it('does not evict other users when one namespace has many service accounts', async () => {
    const permissions = newPermissions({ callers: 4, permissions: 1_000 });
    await permissions.add(5, 'system:serviceaccount:shop:cart');
    for (let n = 0; n < 20; n++) await permissions.add(1, `system:serviceaccount:evil:n-${n}`);
    expect(permissions.size('system:serviceaccount:shop:cart')).to.equal(5);
  });

  it('evicts the heaviest user when the total exceeds its limit', async () => {
    const permissions = newPermissions({ callers: 10, permissions: 100 });
    await permissions.add(30, 'jane');
    await permissions.add(10, 'john');
    for (const token of ['a', 'b', 'c', 'd']) await permissions.add(40, 'mallory', token);
    expect([permissions.size('jane'), permissions.size('john')]).to.deep.equal([30, 10]);
    const sizes = ['a', 'b', 'c', 'd'].map((token) => permissions.size('mallory', token));
    expect(sizes).to.deep.equal([0, 0, 0, 40]);
  });
});
