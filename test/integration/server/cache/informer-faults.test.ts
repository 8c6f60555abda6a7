// Tests of the informer cache during network failures, against a real kube-apiserver.
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { nodeName } from '../../../../hack/simulation/realistic-node.ts';
import { fault } from '../../../support/faults.ts';
import { FEW, type FollowedCluster } from './followed-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

describe('informer cache with a real cluster', () => {
  let cluster: FollowedCluster;

  before(async () => {
    cluster = await sharedCluster();
  });

  afterEach(() => cluster.settle());

  it('equals the cluster after the first list, and after creations, updates and deletions', async () => {
    const followed = await cluster.synced();
    await cluster.equalsCluster(followed);
    await cluster.write(3);
    await cluster.direct.json({
      path: `/api/v1/nodes/${nodeName(5)}`,
      method: 'DELETE',
      signal: cluster.signal,
    });
    await cluster.createNodes(FEW);
    await cluster.reaches(followed, await cluster.write(4));
    await cluster.equalsCluster(followed);
    expect(followed.lists).to.deep.equal(['stream']);
  });

  /** The resourceVersion of a write without an event of a node. */
  async function writeElsewhere(): Promise<string> {
    const { metadata } = (await cluster.direct.json({
      path: '/api/v1/namespaces',
      method: 'POST',
      json: { metadata: { generateName: 'other-' } },
      signal: cluster.signal,
    })) as { metadata: { resourceVersion: string } };
    return metadata.resourceVersion;
  }

  it('reaches a resourceVersion of another kind without an event of its own', async () => {
    const { informer } = await cluster.synced();
    const version = await writeElsewhere();
    expect(BigInt(informer.cache.currentResourceVersion ?? 0) < BigInt(version)).to.equal(true);
    await informer.cache.waitUntil(version, cluster.signal);
    expect(BigInt(informer.cache.snapshot().resourceVersion) >= BigInt(version)).to.equal(true);
  });

  fault('a watch of kube-apiserver stalls', async (recovers) => {
    const followed = await cluster.synced({ stallMs: 2_000 });
    cluster.proxy.freeze();
    const version = await cluster.write();
    await recovers(() => cluster.reaches(followed, version).then(() => true));
    expect(followed.ends[0]).to.equal('stalled');
    expect(followed.lists).to.deep.equal(['stream']);
    await cluster.equalsCluster(followed);
  });

  it('recovers from repeatedly cut connections', async () => {
    const followed = await cluster.synced();
    for (let i = 0; i < 10; i++) {
      cluster.proxy.cut();
      await cluster.reaches(followed, await cluster.write(i));
    }
    expect(followed.lists).to.deep.equal(['stream']);
    await cluster.equalsCluster(followed);
  });

  it('relists when the history was compacted', async () => {
    const followed = await cluster.synced({ stallMs: 2_000 });
    cluster.proxy.freezeNew();
    cluster.proxy.cut();
    for (let i = 0; i < 5; i++) await cluster.write(i);
    await cluster.controlPlane.etcd.compact();
    await cluster.controlPlane.apiserver.restart();
    cluster.proxy.thaw();
    cluster.proxy.cut();
    await followed.ended('expired');
    await followed.listed();
    await cluster.reaches(followed, await cluster.write());
    await cluster.equalsCluster(followed);
  });

  it('relists when etcd was restored from a backup and resourceVersions decrease', async () => {
    const { apiserver, etcd, folder } = cluster.controlPlane;
    const backup = join(cluster.dir, 'backup');
    // etcd recovers from the files at any moment, as after a crash.
    await etcd.pause();
    await cp(folder.etcd, backup, { recursive: true });
    etcd.resume();
    const followed = await cluster.synced();
    for (let i = 0; i < 20; i++) await cluster.write(i);
    const before = await cluster.write();
    await cluster.reaches(followed, before);
    const listed = followed.listed();
    await apiserver.kill();
    await etcd.stop();
    await rm(folder.etcd, { recursive: true });
    await cp(backup, folder.etcd, { recursive: true });
    await etcd.start(cluster.signal);
    await apiserver.restart();
    await listed;
    expect(BigInt(followed.informer.cache.snapshot().resourceVersion) < before).to.equal(true);
    expect(followed.ends).to.include('backwards');
    await cluster.reaches(followed, await cluster.write());
    await cluster.equalsCluster(followed);
  });
});
