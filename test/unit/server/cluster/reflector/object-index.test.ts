// Tests of the index of objects by name.
import { expect } from 'chai';
import { ObjectIndex } from '../../../../../server/cluster/reflector/object-index.ts';
import { eventMetadata } from '../../../../../server/cluster/reflector/watch-stream.ts';
import { describeReflectorSink } from '../../../../conformance/reflector-sink.suite.ts';
import { rawThing } from '../../../../support/cluster/raw-objects.ts';

const versionOf = (object: unknown): string =>
  (object as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
const thing = (name: string, version: number, uid?: string): object => ({
  metadata: { name, uid, resourceVersion: String(version) },
});

describeReflectorSink('ObjectIndex', () => {
  const index = new ObjectIndex((object) => object as { metadata: { name: string } });
  return {
    sink: index,
    contents: () =>
      index.synced
        ? [...index.values()].map((object) => `${object.metadata.name}@${versionOf(object)}`)
        : undefined,
  };
});

describe('ObjectIndex', () => {
  let index: ObjectIndex<string>;

  const listed = (version: number, ...objects: readonly Buffer[]): void => {
    const replacement = index.replacement();
    for (const object of objects) replacement.add(object);
    replacement.commit(String(version));
  };

  beforeEach(() => {
    index = new ObjectIndex(versionOf);
    listed(10, rawThing('a', 5));
  });

  /** The steps: `put`: the response to a write. `list`: a list. Otherwise: an event. */
  for (const [title, steps, expected] of [
    ['returns a write at once', ['put 12'], '12'],
    ['returns later events of the cluster after it', ['put 12', 'MODIFIED 12', 'MODIFIED 14'], '14'],
    ['does not return a state before the write', ['put 12', 'MODIFIED 11', 'list 11'], '12'],
    ['prefers a list that is newer than the write', ['put 12', 'list 15'], '15'],
    ['does not restore an object that was deleted before the response', ['DELETED 13', 'put 12'], undefined],
    ['ignores a deletion that is older than the recreated object', ['put 12', 'DELETED 11'], '12'],
    ['ignores a response that arrives after that of a later write', ['put 13', 'put 12'], '13'],
  ] as const) {
    it(title, () => {
      for (const each of steps) {
        const [step = '', text] = each.split(' ');
        const version = Number(text);
        if (step === 'put') index.put(thing('a', version));
        else if (step === 'list') listed(version, rawThing('a', version));
        else index.apply(step === 'DELETED' ? step : 'MODIFIED', rawThing('a', version));
      }
      expect(index.get('a')).to.equal(expected);
    });
  }

  it('removes an object that a newer list does not contain', () => {
    index.put(thing('b', 13));
    listed(20, rawThing('a', 15));
    expect(index.get('b')).to.equal(undefined);
  });

  it('applies a deletion immediately, and ignores older events after it', () => {
    index.put(thing('a', 6, 'uid-a'));
    index.put(thing('a', 12, 'uid-a'));
    index.remove('a', 'uid-a');
    expect(index.get('a')).to.equal(undefined);
    index.put(thing('a', 13, 'uid-a'));
    index.apply('MODIFIED', rawThing('a', 14));
    listed(14, rawThing('a', 14), rawThing('b', 13));
    expect([...index.values()]).to.deep.equal(['13']);
    index.apply('MODIFIED', rawThing('a', 15));
    expect(index.get('a')).to.equal(undefined);
  });

  it('returns the object that was recreated after a deletion', () => {
    index.remove('a', 'uid-a');
    index.put(thing('a', 13, 'uid-recreated'));
    expect(index.get('a')).to.equal('13');
    index.apply('DELETED', rawThing('a', 12));
    expect(index.get('a')).to.equal('13');
  });

  it('removes only the object with the deleted uid', () => {
    index.remove('a', 'uid-of-another');
    index.put(thing('b', 12));
    index.remove('b', '');
    expect([...index.values()]).to.deep.equal(['5', '12']);
  });

  for (const [how, comes] of [
    ['an event', () => index.apply('DELETED', rawThing('a', 12))],
    ['a list without it', () => listed(12)],
    ['a cluster that was restored', () => listed(3, rawThing('a', 3))],
  ] as const) {
    it(`keeps no record of a deletion after ${how}`, () => {
      index.remove('a', 'uid-a');
      comes();
      // Only a restored cluster reuses a uid: without a record of the deletion, the object is accepted.
      index.apply('ADDED', rawThing('a', 20));
      expect(index.get('a')).to.equal('20');
    });
  }

  it('does not read an event that repeats a write, and continues after it', () => {
    const read: string[] = [];
    const counting = new ObjectIndex((object) => {
      read.push(versionOf(object));
      return versionOf(object);
    });
    counting.replacement().commit('10');
    const apply = (object: Buffer): void => counting.apply('MODIFIED', object, eventMetadata(object));
    counting.put(thing('a', 12, 'uid-a'));
    apply(rawThing('a', 12));
    counting.put(thing('a', 11, 'uid-a'));
    expect(counting.get('a')).to.equal('12');
    apply(rawThing('a', 13));
    expect(counting.get('a')).to.equal('13');
    expect(read).to.deep.equal(['12', '11', '13']);
  });

  it('reports each change of a value once', () => {
    const changes: (readonly [string | undefined, string | undefined])[] = [];
    index = new ObjectIndex(versionOf, (before, after) => changes.push([before, after]));
    listed(10, rawThing('a', 5), rawThing('b', 6));
    index.put(thing('a', 12, 'uid-a'));
    index.apply('DELETED', rawThing('b', 13));
    index.remove('a', 'uid-a');
    index.apply('DELETED', rawThing('a', 14));
    listed(20, rawThing('c', 19));
    listed(30);
    expect(changes).to.deep.equal([
      [undefined, '5'],
      [undefined, '6'],
      ['5', '12'],
      ['6', undefined],
      ['12', undefined],
      [undefined, '19'],
      ['19', undefined],
    ]);
  });

  it('ignores objects for which read returns undefined', () => {
    const odd = new ObjectIndex((object) => (versionOf(object) === '7' ? undefined : 'fine'));
    const replacement = odd.replacement();
    replacement.add(rawThing('a', 7));
    replacement.add(rawThing('b', 8));
    replacement.commit('10');
    expect([...odd.values()]).to.deep.equal(['fine']);
    expect(odd.get('a')).to.equal(undefined);
  });
});
