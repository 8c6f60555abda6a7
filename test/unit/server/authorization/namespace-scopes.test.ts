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

  it('is checked with all attributes of the caller', async () => {
    const attributes: Attributes[] = [];
    await newScopes(['shop'], (each) => attributes.push(each)).of(JANE, LIST_PODS, undefined, call);
    const resource = { ...LIST_PODS, name: '' };
    expect(attributes).to.deep.equal([
      { user: JANE, ...resource, namespace: '' },
      { user: JANE, ...resource, namespace: 'shop' },
    ]);
  });

  it('is sorted by name, because live tails compare it', async () => {
    const scope = await newScopes(['shop', 'other', 'bank']).of(JANE, LIST_PODS, ['shop', 'bank'], call);
    expect(namesOf(scope)).to.deep.equal(['bank', 'shop']);
  });

  it('is checked once for each name, and never for an invalid name', async () => {
    const exact = ['shop', 'shop', 'Shop', 'a/b', '-a', '', 'x'.repeat(64)];
    expect(await checkedAt(0, newScopes(['shop']), exact)).to.deep.equal(['', 'shop']);
  });

  it('is checked for each combination of user and groups', async () => {
    const scopes = newScopes(['shop']);
    const others = [{ name: 'john' }, { groups: [] }, { uid: '1' }, { extra: { a: ['b'] } }];
    for (const other of [{}, ...others]) {
      checked = [];
      await scopes.of({ ...JANE, ...other }, LIST_PODS, ['shop'], call);
      await scopes.of({ ...JANE, ...other }, LIST_PODS, ['shop'], call);
      expect(checked).to.deep.equal(['', 'shop']);
    }
  });

  it('is checked again after the TTL of an allowed or denied permission', async () => {
    const scopes = newScopes(['shop', 'bank', 'other']);
    expect(await checkedAt(0, scopes)).to.deep.equal(['', 'bank', 'other', 'shop']);
    expect(await checkedAt(999, scopes)).to.deep.equal([]);
    expect(await checkedAt(1_000, scopes)).to.deep.equal(['', 'other']);
    expect(await checkedAt(10_000, scopes)).to.deep.equal(['', 'bank', 'other', 'shop']);
  });

  it('is checked again for the whole cluster after the TTL', async () => {
    allowed = () => true;
    const scopes = newScopes([]);
    const isEverything = async (at: number): Promise<boolean> => {
      now = at;
      return (await scopes.of(JANE, LIST_PODS, undefined, call)).everything;
    };
    expect(await isEverything(0)).to.equal(true);
    allowed = () => false;
    expect(await isEverything(9_999)).to.equal(true);
    expect(await isEverything(10_000)).to.equal(false);
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

  it('is checked only in the candidate namespaces that exist', async () => {
    const names = Array.from({ length: 5_000 }, (_, number) => `n-${number}`);
    const hints = ['n-1', 'n-2', 'n-3', 'n-4', 'n-5', 'deleted'];
    allowed = (namespace) => /^n-[1-4]$/.test(namespace);
    const scopes = newScopes(names, undefined, { candidates: () => hints });
    expect(namesOf(await scopes.of(JANE, LIST_PODS, undefined, call))).to.deep.equal(hints.slice(0, 4));
    expect(checked.toSorted()).to.deep.equal(['', ...hints.slice(0, 5)]);
    expect(await checkedAt(0, scopes)).to.deep.equal([]);
  });

  it('is checked in all namespaces while the candidates are unknown', async () => {
    const scopes = newScopes(['shop', 'bank', 'other'], undefined, { candidates: () => undefined });
    expect(namesOf(await scopes.of(JANE, LIST_PODS, undefined, call))).to.deep.equal(['bank', 'shop']);
    expect(checked.toSorted()).to.deep.equal(['', 'bank', 'other', 'shop']);
  });

  it('includes a wanted namespace that is no candidate, because candidates are only a hint', async () => {
    const scopes = newScopes(['shop', 'bank'], undefined, { candidates: () => [] });
    expect(namesOf(await scopes.of(JANE, LIST_PODS, ['shop'], call))).to.deep.equal(['shop']);
  });

  it('is separate for each permission', async () => {
    const scopes = newScopes(['shop']);
    await scopes.of(JANE, LIST_PODS, undefined, call);
    checked = [];
    await scopes.of(JANE, { ...LIST_PODS, resource: 'services' }, undefined, call);
    await scopes.of(JANE, { ...LIST_PODS, subresource: 'log' }, undefined, call);
    await scopes.of(JANE, { ...LIST_PODS, verb: 'get' }, undefined, call);
    await scopes.of(JANE, { ...LIST_PODS, group: 'example.com' }, undefined, call);
    expect(checked).to.deep.equal(['', 'shop', '', 'shop', '', 'shop', '', 'shop']);
  });
});
