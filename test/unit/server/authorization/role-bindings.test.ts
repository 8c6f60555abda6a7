// Tests of the index of RoleBindings.
import { expect } from 'chai';
import { array, assert, boolean, constantFrom, property, record, subarray } from 'fast-check';
import { pino } from 'pino';
import { BindingIndex, RoleBindings } from '../../../../server/authorization/role-bindings.ts';
import { bookmark, event, ScriptedCluster, send } from '../../../support/cluster/scripted-cluster.ts';
import { running } from '../../../support/running.ts';
import { until } from '../../../support/until.ts';

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
  it('finds the namespaces of users, groups and ServiceAccounts', () => {
    const index = indexOf(
      binding('shop', 'a', [
        ['User', 'jane'],
        ['Group', 'dev'],
      ]),
      binding('bank', 'b', [
        ['Group', 'jane'],
        ['ServiceAccount', 'robot', 'ci'],
      ]),
      binding('other', 'c', [['Robot', 'jane']]),
      binding('none', 'd', []),
    );
    expect(namespaces(index, 'jane')).to.deep.equal(['shop']);
    expect(namespaces(index, 'john', 'dev', 'jane')).to.deep.equal(['bank', 'shop']);
    expect(namespaces(index, 'system:serviceaccount:ci:robot')).to.deep.equal(['bank']);
    expect(namespaces(index, 'robot')).to.deep.equal([]);
  });

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

describe('RoleBindings', () => {
  it('are unknown before the first list, then follow the cluster', async () => {
    const opened = Promise.withResolvers<(...events: string[]) => void>();
    await using cluster = await ScriptedCluster.start(({ kind, response, url }) => {
      expect(url.pathname).to.equal('/apis/rbac.authorization.k8s.io/v1/rolebindings');
      if (kind === 'stream') opened.resolve((...events) => send(response, ...events));
    });
    const bindings = new RoleBindings({ client: cluster.connect(), log: pino({ level: 'silent' }) });
    await using _running = running((end) => bindings.run(end));
    const candidates = (): string[] | undefined => {
      const found = bindings.candidates({ name: 'jane', uid: '', groups: ['dev'], extra: {} });
      return found && [...found].sort();
    };
    expect(candidates()).to.equal(undefined);
    const write = await opened.promise;
    write(event('ADDED', raw(binding('shop', 'a', [['User', 'jane']], 1))));
    write(bookmark(2, true));
    await until(() => candidates()?.join() === 'shop');
    write(event('ADDED', raw(binding('bank', 'b', [['Group', 'dev']], 3))));
    await until(() => candidates()?.join() === 'bank,shop');
    write(event('DELETED', raw(binding('shop', 'a', [['User', 'jane']], 4))));
    await until(() => candidates()?.join() === 'bank');
  });
});
