// Tests of the permissions for the platform paths, against a real control plane.
import { expect } from 'chai';
import { type GuardedCluster, groupNamed } from './guarded-cluster.ts';

const NODES = '/kapis/resources.platform.io/v1alpha3/nodes';

export function describePlatformPermissions(subject: () => GuardedCluster): void {
  describe('permissions of the platform paths with a real cluster', () => {
    let cluster: GuardedCluster;

    async function statusOf(path: string, groups: readonly string[]): Promise<number> {
      const pair = await cluster.controlPlane.pki.issueClient({
        cn: 'ann',
        ...(groups[0] ? { o: [...groups] } : {}),
      });
      return (await cluster.ask(path, { pair })).status;
    }

    before(async () => {
      cluster = subject();
      // Permissions that do not apply here: core nodes, other resources of this group, the URL as a non-resource path.
      await cluster.grant(
        'everybody',
        [
          { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list'] },
          { apiGroups: ['resources.platform.io'], resources: ['others'], verbs: ['*'] },
          { nonResourceURLs: ['/kapis/*'], verbs: ['get'] },
        ],
        [groupNamed('system:authenticated')],
      );
      const ours = { apiGroups: ['resources.platform.io'], resources: ['nodes'] };
      await cluster.grant('listers', [{ ...ours, verbs: ['list'] }], [groupNamed('listers')]);
      await cluster.grant(
        'readers-of-one',
        [{ ...ours, resourceNames: ['a'], verbs: ['get', 'list'] }],
        [groupNamed('readers-of-one')],
      );
    });

    it('require permission to list nodes of this group, whatever default roles allow', async () => {
      expect(await statusOf(NODES, [])).to.equal(403);
      expect(await statusOf(`${NODES}/a`, [])).to.equal(403);
      expect(await statusOf(NODES, ['listers'])).to.equal(200);
      expect(await statusOf(`${NODES}?name=a&limit=1`, ['listers'])).to.equal(200);
    });

    it('require separate permission to get a node', async () => {
      expect(await statusOf(`${NODES}/a`, ['listers'])).to.equal(403);
      expect(await statusOf(`${NODES}/a`, ['readers-of-one'])).to.equal(200);
      expect(await statusOf(`${NODES}/b`, ['readers-of-one'])).to.equal(403);
    });

    it('do not return a list with permission for one node, whatever the selector', async () => {
      for (const query of ['', '?fieldSelector=metadata.name%3Da', '?names=a', '?name=a']) {
        expect(await statusOf(`${NODES}${query}`, ['readers-of-one']), query).to.equal(403);
      }
    });

    it('apply to every spelling of the path', async () => {
      for (const path of [NODES.replace('nodes', 'Nodes'), NODES.replace('kapis', 'KAPIS')]) {
        expect(await statusOf(path, ['listers']), path).to.equal(403);
      }
      expect(await statusOf(`${NODES}/`, ['listers'])).to.equal(200);
      expect(await statusOf(`${NODES}/`, ['readers-of-one'])).to.equal(403);
      for (const path of [NODES.replace('/nodes', '//nodes'), NODES.replace('/nodes', '/./nodes')]) {
        expect(await statusOf(path, ['listers']), path).to.equal(400);
      }
    });
  });
}
