// Tests of the namespaces in which a caller has a permission.
import { expect } from 'chai';
import type { Attributes } from '../../../../server/authorization/authorizer.ts';
import {
  type CallerScope,
  NamespaceScopes,
  type NamespaceScopesOptions,
} from '../../../../server/authorization/namespace-scopes.ts';

const JANE = { name: 'jane', uid: 'u', groups: ['dev'], extra: { k: ['v'] } };
const LIST_PODS = { verb: 'list', group: '', version: 'v1', resource: 'pods', subresource: '' };
const call = { signal: new AbortController().signal };
const OLD = Date.parse('2026-11-20T09:00:00Z');
const NEW = Date.parse('2026-11-20T10:00:00Z');

describe('the scope of a caller', () => {
  let now = 0;
  let checked: string[] = [];
  let createdAt = OLD;
  let allowed: (namespace: string) => boolean = () => false;
  const newScopes = (
    names: readonly string[],
    onCheck: (attributes: Attributes) => void = () => undefined,
    options: Pick<NamespaceScopesOptions, 'candidates'> = {},
  ): NamespaceScopes =>
    new NamespaceScopes({
      ...options,
      authorizer: {
        authorize: async (attributes) => {
          onCheck(attributes);
          const namespace = 'namespace' in attributes ? attributes.namespace : '';
          checked.push(namespace);
          return { allowed: allowed(namespace), reason: '' };
        },
      },
      namespaces: () => new Map(names.map((name) => [name, { name, createdAt }])),
      allowTtlMs: 10_000,
      denyTtlMs: 1_000,
      signal: call.signal,
      monotonic: () => now,
    });
  /** Namespaces checked by a query at the time. */
  const checkedAt = async (at: number, scopes: NamespaceScopes, wanted?: string[]): Promise<string[]> => {
    now = at;
    checked = [];
    await scopes.of(JANE, LIST_PODS, wanted, call);
    return checked.toSorted();
  };
  const namesOf = (scope: CallerScope): readonly string[] =>
    scope.everything ? [] : scope.namespaces.map(({ name }) => name);
  beforeEach(() => {
    now = 0;
    checked = [];
    createdAt = OLD;
    allowed = (namespace) => namespace === 'shop' || namespace === 'bank';
  });

  it('is sorted by name, because live tails compare it', async () => {
    const scope = await newScopes(['shop', 'other', 'bank']).of(JANE, LIST_PODS, ['shop', 'bank'], call);
    expect(namesOf(scope)).to.deep.equal(['bank', 'shop']);
  });

  it('is checked once for each name, and never for an invalid name', async () => {
    const exact = ['shop', 'shop', 'Shop', 'a/b', '-a', '', 'x'.repeat(64)];
    expect(await checkedAt(0, newScopes(['shop']), exact)).to.deep.equal(['', 'shop']);
  });

  it('is checked only for names with a hint, also if the namespace does not exist', async () => {
    const candidates = (): ReadonlySet<string> => new Set(['shop', 'gone']);
    const scopes = newScopes(['shop', 'bank'], undefined, { candidates });
    const many = Array.from({ length: 1_000 }, (_, i) => `made-up-${i}`);
    expect(await checkedAt(0, scopes, ['shop', 'bank', 'gone', ...many])).to.deep.equal(['', 'gone', 'shop']);
  });

  it('is checked for each user and permission, with all attributes', async () => {
    const attributes: Attributes[] = [];
    const scopes = newScopes(['shop'], (each) => attributes.push(each));
    const users = [{ name: 'john' }, { groups: [] }, { uid: '1' }, { extra: { a: ['b'] } }];
    const permissions = [
      { resource: 'services' },
      { subresource: 'log' },
      { verb: 'get' },
      { group: 'example.com' },
    ];
    for (const [user, permission] of [
      [{}, {}] as const,
      ...users.map((other) => [other, {}] as const),
      ...permissions.map((other) => [{}, other] as const),
    ]) {
      checked = [];
      for (let i = 0; i < 2; i++) {
        await scopes.of({ ...JANE, ...user }, { ...LIST_PODS, ...permission }, ['shop'], call);
      }
      expect(checked).to.deep.equal(['', 'shop']);
    }
    const resource = { ...LIST_PODS, name: '' };
    expect(attributes.slice(0, 2)).to.deep.equal([
      { user: JANE, ...resource, namespace: '' },
      { user: JANE, ...resource, namespace: 'shop' },
    ]);
  });

  it('is checked again after the TTL of an allowed or denied permission', async () => {
    const scopes = newScopes(['shop', 'bank', 'other']);
    expect(await checkedAt(0, scopes)).to.deep.equal(['', 'bank', 'other', 'shop']);
    expect(await checkedAt(999, scopes)).to.deep.equal([]);
    expect(await checkedAt(1_000, scopes)).to.deep.equal(['', 'other']);
    expect(await checkedAt(10_000, scopes)).to.deep.equal(['', 'bank', 'other', 'shop']);
    allowed = () => true;
    const everywhere = newScopes([]);
    for (const [at, expected] of [
      [0, true],
      [9_999, true],
      [10_000, false],
    ] as const) {
      now = at;
      expect((await everywhere.of(JANE, LIST_PODS, undefined, call)).everything, `${at}`).to.equal(expected);
      allowed = () => false;
    }
  });

  for (const isAllowed of [true, false]) {
    const [ttl, outcome] = isAllowed ? [10_000, 'allowed'] : [1_000, 'denied'];
    it(`is cached longer for more than 250 namespaces (${outcome})`, async () => {
      allowed = (namespace) => isAllowed && namespace !== '';
      const names = (count: number) => Array.from({ length: count }, (_, number) => `n-${number}`);
      const counts: number[] = [];
      for (const count of [250, 1_500]) {
        const scopes = newScopes(names(count));
        // Each time is after the TTL of the check of the whole cluster, or just before it.
        for (const at of [0, ttl - 1, ttl + 1, 6 * ttl - 1, 7 * ttl + 2]) {
          const cluster = (await checkedAt(at, scopes)).filter((name) => name !== '');
          counts.push(cluster.length);
        }
      }
      expect(counts).to.deep.equal([250, 0, 250, 250, 250, 1_500, 0, 0, 0, 1_500]);
    });
  }

  it('is not cached longer if most names do not exist', async () => {
    const scopes = newScopes(['shop', 'bank']);
    const exact = ['shop', ...Array.from({ length: 4_999 }, (_, n) => `made-up-${n}`)];
    await scopes.of(JANE, LIST_PODS, exact, call);
    expect(await checkedAt(10_000, scopes, ['shop'])).to.deep.equal(['', 'shop']);
  });

  it('is empty if the namespace was recreated during the check', async () => {
    const scopes = newScopes(['shop']);
    allowed = (namespace) => {
      // The permission belongs to the new one.
      if (namespace === 'shop') createdAt = NEW;
      return namespace === 'shop';
    };
    for (const wanted of [['shop'], undefined]) {
      createdAt = OLD;
      now += 10_000;
      expect(namesOf(await scopes.of(JANE, LIST_PODS, wanted, call))).to.deep.equal([]);
      const expected = { everything: false, namespaces: [{ name: 'shop', createdAt: NEW }] };
      expect(await scopes.of(JANE, LIST_PODS, wanted, call)).to.deep.equal(expected);
    }
  });

  it('does not use an allowed permission of a deleted namespace of the same name', async () => {
    const scopes = newScopes(['shop']);
    expect(namesOf(await scopes.of(JANE, LIST_PODS, undefined, call))).to.deep.equal(['shop']);
    allowed = () => false;
    createdAt = NEW;
    expect(namesOf(await scopes.of(JANE, LIST_PODS, undefined, call))).to.deep.equal([]);
    await scopes.of(JANE, LIST_PODS, undefined, call);
    expect(checked).to.deep.equal(['', 'shop', 'shop']);
  });

  it('is not checked again after a denial, so that the response time reveals nothing', async () => {
    allowed = () => false;
    const scopes = newScopes(['shop']);
    await scopes.of(JANE, LIST_PODS, ['shop'], call);
    createdAt = NEW;
    expect(await checkedAt(0, scopes, ['shop'])).to.deep.equal([]);
  });

  it('is checked only in the candidate namespaces that exist, else in all', async () => {
    const names = Array.from({ length: 5_000 }, (_, number) => `n-${number}`);
    const hints = ['n-1', 'n-2', 'n-3', 'n-4', 'n-5', 'deleted'];
    allowed = (namespace) => /^n-[1-4]$/.test(namespace);
    const scopes = newScopes(names, undefined, { candidates: () => new Set(hints) });
    expect(namesOf(await scopes.of(JANE, LIST_PODS, undefined, call))).to.deep.equal(hints.slice(0, 4));
    expect(checked.toSorted()).to.deep.equal(['', ...hints.slice(0, 5)]);
    expect(await checkedAt(0, scopes)).to.deep.equal([]);
    // Candidates may be unknown.
    allowed = (namespace) => namespace === 'n-6';
    const all = newScopes(names, undefined, { candidates: () => undefined });
    expect(namesOf(await all.of(JANE, LIST_PODS, undefined, call))).to.deep.equal(['n-6']);
  });
});
