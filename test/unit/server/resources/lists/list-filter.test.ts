// Tests of the filters of list queries.
import { expect } from 'chai';
import {
  AnyKindQuerySchema,
  type ResourceQuery,
} from '../../../../../apis/resources/v1alpha3/resource-query.ts';
import { listFilter } from '../../../../../server/resources/lists/list-filter.ts';
import { KindCache, PODS, plain } from '../../../../support/platform/kind-cache.ts';

const DEFAULTS = { page: 1, limit: -1, sortBy: 'name', ascending: true };

const pods = new KindCache(PODS).fill(4, [
  plain(
    'shop/cart-1',
    1,
    {
      labels: { app: 'cart', tier: 'web' },
      annotations: { 'platform.io/alias-name': 'My Cart', team: 'blue' },
      ownerReferences: [{ uid: 'rs-1', kind: 'ReplicaSet' }],
    },
    {
      spec: { nodeName: 'node-1', containers: [{ image: 'example.org/Nginx:1' }] },
      status: { phase: 'Running' },
    },
  ),
  plain(
    'shop/cart-2',
    2,
    {
      labels: { app: 'cart' },
      ownerReferences: [
        { uid: 'rs-2', kind: 'ReplicaSet' },
        { uid: 'j', kind: 'Job' },
      ],
    },
    { spec: { nodeName: 'node-2' }, status: { phase: 'Pending' } },
  ),
  plain('bank/db-0', 3, { labels: { app: 'db' } }, { status: { phase: 'Running' } }),
  plain('bank/job', 4, {}, { status: { phase: 'Failed', reason: 'Evicted' } }),
]);

function filter(query: Partial<ResourceQuery>) {
  return listFilter({ ...DEFAULTS, ...query }, pods.profile);
}

function selected(query: Partial<ResourceQuery>): string[] {
  const { test } = filter(query);
  return Array.from(pods.snapshot().objects(), ({ identity }) => identity)
    .filter(test)
    .map(({ name }) => name);
}

describe('listFilter', () => {
  const cases: readonly [Partial<ResourceQuery>, string[]][] = [
    [{}, ['db-0', 'job', 'cart-1', 'cart-2']],
    [{ name: 'cart' }, ['cart-1', 'cart-2']],
    [{ name: 'My' }, ['cart-1']],
    [{ name: 'my' }, []],
    [{ alias: 'Cart' }, ['cart-1']],
    [{ names: ['job', 'cart-2', 'none'] }, ['job', 'cart-2']],
    [{ names: [] }, []],
    [{ uid: 'uid-bank/job' }, ['job']],
    [{ status: ['Running', 'Evicted'] }, ['db-0', 'job', 'cart-1']],
    [{ labelSelector: 'app in (cart,db),!tier' }, ['db-0', 'cart-2']],
    [{ labelSelector: 'app=cart', label: 'tier' }, ['cart-1']],
    [{ annotation: 'team=blue' }, ['cart-1']],
    [{ fieldSelector: 'spec.nodeName=node-2' }, ['cart-2']],
    [{ fieldSelector: 'status.phase!=Running,metadata.namespace=shop' }, ['cart-2']],
    [{ fieldSelector: 'metadata.name=job' }, ['job']],
    [{ ownerReference: 'rs-1' }, ['cart-1']],
    [{ ownerKind: 'ReplicaSet' }, ['cart-1', 'cart-2']],
    // Both of the same owner.
    [{ ownerReference: 'rs-2', ownerKind: 'Job' }, []],
    [{ ownerReference: 'j', ownerKind: 'Job' }, ['cart-2']],
    // In name, namespace, alias, labels and images.
    [{ q: 'CART-2' }, ['cart-2']],
    [{ q: 'Bank' }, ['db-0', 'job']],
    [{ q: 'my cart' }, ['cart-1']],
    [{ q: 'tier=web' }, ['cart-1']],
    [{ q: 'nginx' }, ['cart-1']],
    // All filters must match.
    [{ q: 'cart', status: ['Pending'] }, ['cart-2']],
    [{ q: 'cart', name: 'db' }, []],
  ];
  for (const [query, names] of cases) {
    it(`selects ${names.join(' and ') || 'nothing'} by ${JSON.stringify(query)}`, () => {
      expect(selected(query)).to.deep.equal(names);
    });
  }

  it('uses the additional filters of a kind', () => {
    const filters = { phase: () => ['x', 'y'] };
    const role = { ...DEFAULTS, phase: ['y'] };
    const { test } = listFilter(role, { ...pods.profile, filters });
    const object = pods.snapshot().get('bank/job');
    expect(object && test(object)).to.equal(true);
  });

  it('has equal keys for equal filters, and an empty key without filters', () => {
    const page = {
      page: 7,
      limit: 3,
      sortBy: 'age',
      ascending: false,
      facets: ['status'],
      namespaces: ['shop'],
    };
    expect(filter({ ...page, live: 'page' }).key).to.equal('');
    expect(filter({ q: 'a', name: 'b' }).key).to.equal(filter({ name: 'b', q: 'a', ...page }).key);
    expect(filter({ q: 'a' }).key).not.to.equal(filter({ name: 'a' }).key);
    expect(filter({ names: ['a', 'b'] }).key).not.to.equal(filter({ names: ['a,b'] }).key);
  });

  it('is tested with every parameter that selects objects', () => {
    const others = [...Object.keys(DEFAULTS), 'facets', 'namespaces', 'namespace', 'live', 'role'];
    const tested = cases.flatMap(([query]) => Object.keys(query));
    expect([...new Set(tested), ...others]).to.have.members(Object.keys(AnyKindQuerySchema.properties));
  });
});
