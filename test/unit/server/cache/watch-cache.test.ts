// Tests of the watch cache of one resource.
import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { isExpired } from '../../../../apis/meta/v1/errors.ts';
import { ObjectReader } from '../../../../server/cache/object-reader.ts';
import { SnapshotBuilder } from '../../../../server/cache/snapshot-builder.ts';
import { PackedFrames } from '../../../../server/cache/stored-object.ts';
import { Change, WatchWindow } from '../../../../server/cache/watch-cache.ts';
import { readThing, THINGS } from '../../../support/cluster/raw-objects.ts';

describe('Change', () => {
  const previous = new Change('ADDED', readThing('a', 98, 1), undefined).object;
  const modified = new Change('MODIFIED', readThing('a', 100, 2), previous);

  it('is DELETED for a selector that stops to match: last matching state, new resourceVersion', () => {
    const seen = modified.objectFor('DELETED');
    expect(modified.objectFor('DELETED')).to.equal(seen);
    expect(seen.resourceVersion).to.equal('100');
    expect(seen.facts).to.deep.equal({ size: 1 });
    expect(JSON.parse(seen.metadata.toString())).to.deep.include({ name: 'a', resourceVersion: '100' });
    expect(JSON.parse(seen.bytes.toString())).to.deep.include({ spec: { size: 1 } });
  });

  it('contains a deleted object as kube-apiserver sent it', () => {
    const { bytes, resourceVersion, facts } = new Change(
      'DELETED',
      readThing('a', 101, 3),
      previous,
    ).objectFor('DELETED');
    expect(JSON.parse(bytes.toString())).to.deep.include({ spec: { size: 3 } });
    expect({ resourceVersion, facts }).to.deep.equal({ resourceVersion: '101', facts: { size: 3 } });
  });

  it('does not keep the neighbours of the previous object in memory', () => {
    const builder = new SnapshotBuilder<{ readonly size: number }>();
    for (let i = 0; i < 40; i++) builder.add(readThing(`thing-${i + 10}`, 1));
    const neighbour = builder.build(1n).get('thing-20');
    expect(neighbour?.bytes.buffer.byteLength).to.be.greaterThan(3000);
    const change = new Change('MODIFIED', readThing('thing-20', 2), neighbour);
    expect(change.previous?.bytes.buffer.byteLength).to.be.lessThan(500);
    expect(change.previous?.bytes.equals(neighbour?.bytes ?? Buffer.alloc(0))).to.equal(true);
  });
});

describe('the size of a change', () => {
  it('contains the packed frame of the previous object, with its neighbours', () => {
    const builder = new SnapshotBuilder<{ readonly size: number }>(new PackedFrames());
    const large = randomBytes(20_000).toString('base64');
    for (const name of ['a', 'b', 'c']) {
      const object = { metadata: { name, resourceVersion: '1' }, ...(name === 'b' ? {} : { large }) };
      builder.add(new ObjectReader(THINGS).read(Buffer.from(JSON.stringify(object))));
    }
    const previous = builder.build(1n).get('b');
    const { size } = new Change('MODIFIED', readThing('b', 2), previous);
    expect(size).to.be.within(20_000, 25_000);
  });
});

const change = (version: number) => new Change('ADDED', readThing(`t-${version}`, version), undefined);
const roomy = { events: 1000, ageMs: 1e9, bytes: 1e9 };

describe('WatchWindow', () => {
  function filled(bounds: Partial<typeof roomy>, now = () => 0): WatchWindow<{ readonly size: number }> {
    const window = new WatchWindow<{ readonly size: number }>(10n, { ...roomy, ...bounds }, now);
    for (let version = 12; version <= 300; version += 2) window.push(change(version));
    return window;
  }
  const since = (window: WatchWindow<{ readonly size: number }>, from: bigint) =>
    window.since(from).map(({ resourceVersion }) => Number(resourceVersion));

  it('returns every change after any resourceVersion', () => {
    const window = filled({});
    expect(since(window, 10n)).to.have.length(145);
    expect(since(window, 295n)).to.deep.equal([296, 298, 300]);
    expect(since(window, 296n)).to.deep.equal([298, 300]);
    expect(since(window, 300n)).to.deep.equal([]);
    expect(since(window, 999n)).to.deep.equal([]);
  });

  it('rejects versions before its start, with both resourceVersions', () => {
    expect(() => filled({}).since(9n))
      .to.throw('too old resource version: 9 (10)')
      .and.satisfy(isExpired);
  });

  it('evicts the oldest changes above the limit, and returns 410 for them', () => {
    const window = filled({ events: 3 });
    expect(since(window, 294n)).to.deep.equal([296, 298, 300]);
    expect(() => window.since(293n)).to.throw('too old resource version: 293 (294)');
  });

  it('evicts expired changes, also without new ones', () => {
    let now = 0;
    const window = filled({ ageMs: 1000 }, () => now);
    now = 1001;
    window.trim();
    expect(window.length).to.equal(0);
    expect(() => window.since(299n)).to.throw('too old');
    expect(since(window, 300n)).to.deep.equal([]);
  });

  it('releases the memory of evicted changes', async () => {
    const window = new WatchWindow<{ readonly size: number }>(10n, { ...roomy, events: 3 }, () => 0);
    const pushed: WeakRef<object>[] = [];
    for (let version = 11; version < 211; version++) {
      const one = change(version);
      pushed.push(new WeakRef(one));
      window.push(one);
    }
    // The target of a new WeakRef lives until the next turn of the event loop.
    await new Promise(setImmediate);
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    expect(pushed.filter((one) => one.deref()).length).to.be.within(3, 80);
    expect(window.length).to.equal(3);
  });

  it('evicts the oldest changes above the byte limit', () => {
    const size = change(300).size;
    const window = filled({ bytes: size * 5 + 10 });
    expect(window.length).to.equal(5);
  });
});
