// Tests of the index of RoleBindings.
import { expect } from 'chai';
import { array, assert, boolean, constantFrom, property, record, subarray } from 'fast-check';
import { RoleBindings } from '../../../../server/authorization/role-bindings.ts';
import { ROLE_BINDINGS } from '../../../../server/resources/kind.ts';
import { KindCache, type PlainObject, plain } from '../../../support/platform/kind-cache.ts';

function binding(key: string, users: readonly string[], version: number): PlainObject {
  const subjects = users.map((name) => ({ kind: 'User', name }));
  return plain(key, version, {}, { subjects, roleRef: { kind: 'ClusterRole', name: 'view' } });
}

const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort();
const namespaces = (bindings: RoleBindings, name: string): string[] =>
  sorted(bindings.candidates({ name, groups: [] }) ?? []);

describe('RoleBindings', () => {
  it('equal a rebuilt index after any changes', () => {
    const subjects = ['jane', 'john', 'jim'];
    const change = record({
      key: constantFrom('a/x', 'a/y', 'b/x', 'b/y'),
      subjects: subarray(subjects),
      gone: boolean(),
    });
    assert(
      property(array(change, { maxLength: 30 }), (changes) => {
        const cache = new KindCache(ROLE_BINDINGS);
        const index = new RoleBindings(cache);
        cache.fill(1, []);
        let version = 1;
        for (const { key, subjects: named, gone } of changes) {
          // Some bindings name a subject twice.
          const one = binding(key, [...named, ...named.slice(1)], ++version);
          cache.apply(gone ? 'DELETED' : 'MODIFIED', one);
        }
        const rebuilt = new RoleBindings(cache);
        for (const name of subjects) {
          expect(namespaces(index, name), name).to.deep.equal(namespaces(rebuilt, name));
        }
        const bound = new Map(changes.map(({ key, gone, subjects: named }) => [key, gone ? [] : named]));
        for (const name of subjects) {
          const expected = [...bound]
            .filter(([, named]) => named.includes(name))
            .map(([key]) => key.slice(0, 1));
          expect(namespaces(rebuilt, name), name).to.deep.equal(sorted(expected));
        }
      }),
    );
  });
});
