import { expect } from 'chai';
import { Change } from '../../../../../server/cache/events/change.ts';
import { SnapshotBuilder } from '../../../../../server/cache/snapshots/snapshot-builder.ts';
import { readThing } from '../../../../support/cluster/raw-objects.ts';

interface Line {
  readonly type: string;
  readonly object: { kind: string; metadata: { resourceVersion: string }; spec: { size: number } };
}

const line = (frame: Buffer): Line => JSON.parse(frame.toString('utf8')) as Line;

describe('a change', () => {
  const previous = new Change('ADDED', readThing('a', 98, 1), undefined).object;
  const modified = new Change('MODIFIED', readThing('a', 100, 2), previous);

  it('is one line with the object in our group', () => {
    const frame = modified.frame('MODIFIED');
    expect(frame.indexOf('\n')).to.equal(frame.length - 1);
    expect(line(frame)).to.deep.include({ type: 'MODIFIED' });
    expect(line(frame).object).to.deep.include({
      kind: 'Thing',
      apiVersion: 'resources.platform.io/v1alpha3',
      spec: { size: 2 },
    });
  });

  it('is encoded once for all watchers, whatever type they are to see', () => {
    for (const type of ['ADDED', 'MODIFIED', 'DELETED'] as const) {
      expect(modified.frame(type)).to.equal(modified.frame(type));
    }
  });

  it('shows an object that enters a selector as ADDED', () => {
    expect(line(modified.frame('ADDED'))).to.deep.include({ type: 'ADDED' });
    expect(line(modified.frame('ADDED')).object.spec.size).to.equal(2);
    expect(modified.objectFor('ADDED')).to.equal(modified.object);
  });

  it('shows an object that leaves a selector as DELETED: its last selected state at the new resourceVersion', () => {
    const { type, object } = line(modified.frame('DELETED'));
    expect({ type, size: object.spec.size, version: object.metadata.resourceVersion }).to.deep.equal({
      type: 'DELETED',
      size: 1,
      version: '100',
    });
    const seen = modified.objectFor('DELETED');
    expect(modified.objectFor('DELETED')).to.equal(seen);
    expect(seen.resourceVersion).to.equal('100');
    expect(seen.facts).to.deep.equal({ size: 1 });
    expect(JSON.parse(seen.metadata.toString())).to.deep.include({ name: 'a', resourceVersion: '100' });
  });

  it('shows a removed object as kube-apiserver sent it', () => {
    const deleted = new Change('DELETED', readThing('a', 101, 3), previous);
    expect(line(deleted.frame('DELETED')).object).to.deep.include({ spec: { size: 3 } });
    expect(deleted.objectFor('DELETED')).to.deep.include({ resourceVersion: '101', facts: { size: 3 } });
  });

  it('is as large as what it holds: the object and the one before', () => {
    expect(modified.size).to.equal(modified.object.bytes.length + previous.bytes.length);
  });

  it('does not keep the neighbours of the former object alive', () => {
    const builder = new SnapshotBuilder<{ readonly size: number }>();
    for (let i = 0; i < 40; i++) builder.add(readThing(`thing-${i + 10}`, 1));
    const neighbour = builder.build(1n).get('thing-20');
    expect(neighbour?.bytes.buffer.byteLength).to.be.greaterThan(3000);
    const change = new Change('MODIFIED', readThing('thing-20', 2), neighbour);
    expect(change.previous?.bytes.buffer.byteLength).to.be.lessThan(500);
    expect(change.previous?.bytes.equals(neighbour?.bytes ?? Buffer.alloc(0))).to.equal(true);
  });
});
