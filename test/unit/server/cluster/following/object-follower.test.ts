import { expect } from 'chai';
import {
  ObjectFollower,
  type ObjectsByName,
} from '../../../../../server/cluster/following/object-follower.ts';
import { describeReflectorSink } from '../../../../conformance/reflector-sink.ts';
import { rawThing } from '../../../../support/cluster/raw-objects.ts';

describeReflectorSink('the object follower', () => {
  const follower = new ObjectFollower(() => undefined);
  const versionOf = (object: unknown) =>
    (object as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
  return {
    sink: follower,
    contents: () =>
      follower.objects && [...follower.objects].map(([key, object]) => `${key}@${versionOf(object)}`),
  };
});

describe('the object follower', () => {
  it('tells of all objects after the first list and after each change', () => {
    const told: ObjectsByName[] = [];
    const follower = new ObjectFollower((objects) => told.push(objects));
    const replacement = follower.replacement();
    replacement.add(rawThing('a', 1, 1));
    expect(follower.objects).to.equal(undefined);
    replacement.commit('1');
    follower.apply('ADDED', Buffer.from('{"metadata":{"name":"b","namespace":"ns","resourceVersion":"2"}}'));
    follower.apply('DELETED', rawThing('a', 3));
    follower.bookmark();
    expect(told.map((objects) => [...objects.keys()])).to.deep.equal([['a'], ['a', 'ns/b'], ['ns/b']]);
    expect(told[0]?.get('a')).to.have.nested.property('spec.size', 1);
    expect(follower.objects).to.equal(told.at(-1));
  });
});
