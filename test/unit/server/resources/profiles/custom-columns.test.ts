// Tests of the printer columns of custom resources: cells that the server cannot print, sort keys, and the bounds for
// hostile definitions and objects. The integration and end-to-end tests compare the other cells with kube-apiserver.
import { expect } from 'chai';
import type { PrinterColumn } from '../../../../../server/resources/kind.ts';
import { comparisonBy, sortKeysOf } from '../../../../../server/resources/kind-profile.ts';
import { kindProfile, type PrintedProfile } from '../../../../../server/resources/profiles/kind-profiles.ts';
import { KindCache, plain, WIDGETS } from '../../../../support/platform/kind-cache.ts';

function profileOf(columns: readonly PrinterColumn[]): PrintedProfile {
  return kindProfile(
    { ...WIDGETS, custom: { revision: '1', listKind: 'WidgetList', columns, selectableFields: [] } },
    'platform.io',
  );
}

function column(name: string, jsonPath = '.spec.value', type = 'string'): PrinterColumn {
  return { name, type, jsonPath };
}

const identity = {
  key: 'a',
  name: 'a',
  namespace: '',
  uid: '',
  resourceVersion: '1',
  checksum: 0,
  size: 0,
  labels: {},
};

/** A value with this number of nested lists. */
function nested(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth));
}

describe('the cell of a printer column', () => {
  for (const [value, what] of [
    [2 ** 53, 'a large integer'],
    [[2 ** 53], 'a list with a large integer'],
    [nested(9_000), 'a deeply nested value'],
    ['x'.repeat(5_000), 'a long text'],
    [{ text: 'x'.repeat(5_000) }, 'an object with a long text'],
    [Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [i, i])), 'a large object'],
    [Array.from({ length: 10_000 }, () => 1), 'a long list'],
  ] as const) {
    it(`is unknown for ${what}`, () => {
      const profile = profileOf([column('Value')]);
      const facts = profile.facts({ spec: { value: 1 } });
      expect(profile.columns?.[1]?.cell({ ...identity, facts }, new Date())).to.equal('1');
      expect(facts.isExact).to.equal(true);
      expect(profile.isExact()).to.equal(true);
      expect(profile.facts({ spec: { value } })).to.deep.include({ values: [null], isExact: false });
      expect(profile.isExact()).to.equal(false);
    });
  }

  for (const [value, key] of [
    [2 ** 53, 2 ** 53],
    [-(2 ** 60), -(2 ** 60)],
    // Too large for an integer of kube-apiserver.
    [1e300, null],
  ]) {
    it(`is unknown for the integer ${value}, and the sort key is ${key}`, () => {
      const profile = profileOf([column('Value', '.spec.value', 'integer')]);
      expect(profile.facts({ spec: { value } })).to.deep.include({ values: [key], isExact: false });
    });
  }

  it('has bounded texts in all columns of an object together', () => {
    const profile = profileOf(Array.from({ length: 64 }, (_, i) => column(`c${i}`)));
    const { values } = profile.facts({ spec: { value: 'x'.repeat(4_000) } });
    expect(values.join('').length).to.be.within(4_000, 16_384);
  });

  it('is not computed for columns beyond a limit', () => {
    const profile = profileOf(Array.from({ length: 20_000 }, (_, i) => column(`c${i}`)));
    expect(profile.facts({ spec: { value: 'x' } }).values).to.have.length(64);
    expect(profile.unsortable?.get('c64')).to.equal('only the first 64 printer columns have values');
    expect(profile.columns).to.equal(undefined);
  });

  it('reads no member that the object inherits', () => {
    const paths = [
      '.spec.constructor',
      '.spec.toString',
      '.spec.__proto__',
      '.spec.list.length',
      '.hasOwnProperty',
    ];
    const profile = profileOf(paths.map((path) => column(path, path)));
    expect(profile.facts({ spec: { list: [] } }).values).to.deep.equal(paths.map(() => null));
  });
});

describe('the facts of an object', () => {
  it('are empty if reading them fails, and the failure is reported', () => {
    const failures: unknown[] = [];
    const custom = {
      revision: '1',
      listKind: 'WidgetList',
      columns: [column('Value')],
      selectableFields: [],
    };
    const profile = kindProfile({ ...WIDGETS, custom }, 'platform.io', (error) => failures.push(error));
    const error = new RangeError('Maximum call stack size exceeded');
    const broken = {
      get spec() {
        throw error;
      },
    };
    expect(profile.facts(broken)).to.deep.include({ values: [], isExact: false });
    expect(failures).to.deep.equal([error]);
  });
});

describe('the sort keys of printer columns', () => {
  it('never replace those of every kind', () => {
    const names = ['name', 'namespace', 'age', 'status', 'creationTimestamp', 'createTime'];
    const custom = {
      revision: '1',
      listKind: 'WidgetList',
      columns: names.map((name) => column(name)),
      selectableFields: [],
    };
    const cache = new KindCache({ ...WIDGETS, custom });
    // By the column, the order is the reverse.
    cache.fill(9, [
      plain(
        'shop/a',
        1,
        { creationTimestamp: '2026-01-01T00:00:00Z' },
        { spec: { value: '2' }, status: { phase: 'A' } },
      ),
      plain(
        'shop/b',
        2,
        { creationTimestamp: '2026-01-02T00:00:00Z' },
        { spec: { value: '1' }, status: { phase: 'B' } },
      ),
    ]);
    const sorted = (key: string) =>
      Array.from(cache.snapshot().objects(), ({ identity: one }) => one)
        .sort(comparisonBy(cache.profile, key))
        .map(({ name }) => name);
    for (const name of names) {
      expect(sorted(name), name).to.deep.equal(name === 'age' ? ['b', 'a'] : ['a', 'b']);
      expect(sorted(`column:${name}`), name).to.deep.equal(['b', 'a']);
    }
  });

  it('exclude columns that cannot be computed, names of several columns, and long names', () => {
    const profile = profileOf([
      column('Good'),
      column('Descent', '.spec..a'),
      column('Twice'),
      column('Twice', '.spec.other'),
      column('x'.repeat(300)),
      column('Broken', '.spec["a"]'),
      column('After'),
    ]);
    expect(sortKeysOf(profile)).to.include.members(['Good', 'column:Good']);
    for (const [key, reason] of [
      ['Descent', /its JSON path "\.spec\.\.a" is not supported/],
      ['column:Descent', /is not supported/],
      ['Twice', /several printer columns have this name/],
      ['x'.repeat(300), /its name has more than 253 characters/],
      ['Broken', /its JSON path "\.spec\[\\"a\\"]" is not valid/],
      ['After', /kube-apiserver prints no column after "Broken"/],
    ] as const) {
      expect(sortKeysOf(profile)).not.to.include(key);
      expect(profile.unsortable?.get(key)).to.match(reason);
    }
  });

  for (const [type, values] of [
    ['integer', [undefined, 2, 10]],
    ['string', [undefined, 'a', 'b']],
    ['boolean', [undefined, false, true]],
    ['date', [undefined, '2026-01-01T00:00:00+02:00', '2026-01-01T00:00:00Z']],
  ] as const) {
    it(`start with missing values, for the type ${type}`, () => {
      const columns = [column('Value', '.spec.value', type)];
      const cache = new KindCache({
        ...WIDGETS,
        custom: { revision: '1', listKind: 'WidgetList', columns, selectableFields: [] },
      });
      cache.fill(9, values.map((value, i) => plain(`shop/${i}`, i + 1, {}, { spec: { value } })).reverse());
      const all = Array.from(cache.snapshot().objects(), ({ identity: one }) => one);
      const sorted = all.reverse().sort(comparisonBy(cache.profile, 'Value'));
      expect(sorted.map(({ name }) => name)).to.deep.equal(['0', '1', '2']);
    });
  }
});

describe('the cache of a kind', () => {
  it('contains an object with the deepest nesting that kube-apiserver accepts', () => {
    const columns = ['.spec', '.spec..a', '.spec.value', '.spec.value[*]'].map((path) => column(path, path));
    const { cache } = new KindCache({
      ...WIDGETS,
      custom: { revision: '1', listKind: 'WidgetList', columns, selectableFields: ['.spec.value'] },
    });
    const object = (name: string): Buffer => {
      const metadata = { name, namespace: 'shop', resourceVersion: name };
      const depth = 9_990;
      return Buffer.from(
        `{"metadata":${JSON.stringify(metadata)},"spec":{"value":${'['.repeat(depth)}${']'.repeat(depth)}}}`,
      );
    };
    const replacement = cache.replacement();
    replacement.add(object('1'));
    replacement.commit('1');
    cache.apply('ADDED', object('2'));
    expect(Array.from(cache.snapshot().objects(), ({ name }) => name)).to.deep.equal(['1', '2']);
  });
});
