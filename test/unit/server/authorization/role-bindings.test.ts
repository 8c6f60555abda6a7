// Tests of the index of RoleBindings.
import { expect } from 'chai';
import { array, assert, boolean, constantFrom, property, record, subarray } from 'fast-check';
import { BindingIndex } from '../../../../server/authorization/role-bindings.ts';

type Subject = readonly [kind: string, name: string, namespace?: string];

function binding(namespace: string, name: string, subjects: readonly Subject[], resourceVersion = 1): object {
  return {
    kind: 'RoleBinding',
    metadata: { namespace, name, resourceVersion: String(resourceVersion) },
    subjects: subjects.map(([kind, subject, from]) => ({ kind, name: subject, namespace: from })),
    roleRef: { kind: 'ClusterRole', name: 'view' },
  };
}

const raw = (object: object): Buffer => Buffer.from(JSON.stringify(object));

function indexOf(...bindings: readonly object[]): BindingIndex {
  const index = new BindingIndex();
  const replacement = index.replacement();
  for (const one of bindings) replacement.add(raw(one));
  replacement.commit('1');
  return index;
}

const user = (name: string, ...groups: string[]) => ({ name, groups });
const namespaces = (index: BindingIndex, name: string, ...groups: string[]): string[] =>
  [...index.namespacesOf(user(name, ...groups))].sort();

describe('BindingIndex', () => {
  it('equals a rebuilt index after any changes', () => {
    const subjects = ['jane', 'john', 'jim'];
    const change = record({
      namespace: constantFrom('a', 'b'),
      name: constantFrom('x', 'y', 'z'),
      subjects: subarray(subjects),
      gone: boolean(),
    });
    assert(
      property(array(change, { maxLength: 30 }), (changes) => {
        const index = indexOf();
        const left = new Map<string, object>();
        for (const { namespace, name, subjects: named, gone } of changes) {
          // Some bindings name a subject twice.
          const one = binding(
            namespace,
            name,
            [...named, ...named.slice(1)].map((each) => ['User', each] as const),
          );
          index.apply(gone ? 'DELETED' : left.has(`${namespace}/${name}`) ? 'MODIFIED' : 'ADDED', raw(one));
          if (gone) left.delete(`${namespace}/${name}`);
          else left.set(`${namespace}/${name}`, one);
        }
        const rebuilt = indexOf(...left.values());
        for (const name of subjects) {
          expect(namespaces(index, name), name).to.deep.equal(namespaces(rebuilt, name));
        }
      }),
    );
  });
});
