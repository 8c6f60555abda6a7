// Tests of the filters of list queries. The integration tests compare each parameter with the objects of a real cluster.
import { expect } from 'chai';
import type { ResourceQuery } from '../../../../../apis/resources/v1alpha3/resource-query.ts';
import { PODS } from '../../../../../server/resources/kind.ts';
import { listFilter } from '../../../../../server/resources/lists/list-filter.ts';
import { KindCache, plain } from '../../../../support/platform/kind-cache.ts';

const DEFAULTS = { page: 1, limit: -1, sortBy: 'name', ascending: true };

const pods = new KindCache(PODS).fill(1, [plain('bank/job', 1)]);

function filter(query: Partial<ResourceQuery>) {
  return listFilter({ ...DEFAULTS, ...query }, pods.profile);
}

describe('listFilter', () => {
  it('selects nothing by an empty list of names', () => {
    expect(Array.from(pods.snapshot().objects()).filter(filter({ names: [] }).test)).to.deep.equal([]);
  });

  it('uses the additional filters of a kind', () => {
    const filters = { phase: () => ['x', 'y'] };
    const role = { ...DEFAULTS, phase: ['y'] };
    const { test } = listFilter(role, { ...pods.profile, filters });
    const object = pods.snapshot().get('bank/job');
    expect(object && test(object)).to.equal(true);
  });

  it('has equal keys for equal filters, and an empty key without filters', () => {
    const page = { page: 7, limit: 3, sortBy: 'age', ascending: false };
    const others = { ...page, facets: ['status'], namespaces: ['shop'], columns: true };
    expect(filter({ ...others, live: 'page' }).key).to.equal('');
    expect(filter({ q: 'a', name: 'b' }).key).to.equal(filter({ name: 'b', q: 'a', ...others }).key);
    expect(filter({ q: 'a' }).key).not.to.equal(filter({ name: 'a' }).key);
    expect(filter({ names: ['a', 'b'] }).key).not.to.equal(filter({ names: ['a,b'] }).key);
  });
});
