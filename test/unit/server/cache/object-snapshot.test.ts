// Tests of ObjectSnapshot, all objects of a resource at one resourceVersion.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { ObjectReader } from '../../../../server/cache/object-reader.ts';
import { CHUNK_OBJECTS, type ObjectSnapshot } from '../../../../server/cache/object-snapshot.ts';
import { SnapshotBuilder } from '../../../../server/cache/snapshot-builder.ts';
import { type FrameFactory, PackedFrames } from '../../../../server/cache/stored-object.ts';
import { Change } from '../../../../server/cache/watch-cache.ts';
import { rawThing, readThing, THINGS } from '../../../support/cluster/raw-objects.ts';

type Things = ObjectSnapshot<{ readonly size: number }>;

function set(snapshot: Things, name: string, version: number): Things {
  const previous = snapshot.get(name);
  const change = new Change(previous ? 'MODIFIED' : 'ADDED', readThing(name, version, version), previous);
  return snapshot.with(BigInt(version), change.object, previous);
}

function remove(snapshot: Things, name: string, version: number): Things {
  return snapshot.get(name) ? snapshot.without(BigInt(version), name) : snapshot.at(BigInt(version));
}

/** The content of a snapshot, read through each of its methods. */
function contents(snapshot: Things): Record<string, string> {
  const byObject = Object.fromEntries(
    [...snapshot.objects()].map((object) => [object.key, object.resourceVersion]),
  );
  const json = `[${snapshot
    .pieces()
    .map((piece) => piece.json().toString())
    .join(',')}]`;
  const parsed = JSON.parse(json) as { metadata: { name: string; resourceVersion: string } }[];
  expect(parsed.map(({ metadata }) => [metadata.name, metadata.resourceVersion])).to.deep.equal(
    Object.entries(byObject),
  );
  expect([...snapshot.objects()].map(({ bytes }) => JSON.parse(bytes.toString('utf8')))).to.deep.equal(
    parsed,
  );
  for (const object of snapshot.objects()) {
    expect(snapshot.get(object.key)?.bytes.equals(object.bytes)).to.equal(true);
    expect(JSON.parse(object.metadata.toString('utf8'))).to.have.property('name', object.name);
  }
  expect(snapshot.size).to.equal(parsed.length);
  return byObject;
}

function built(names: readonly string[], frames?: FrameFactory): Things {
  const builder = new SnapshotBuilder<{ readonly size: number }>(frames);
  for (const name of names) builder.add(readThing(name, 1));
  return builder.build(1n);
}

const NAMES = Array.from({ length: 200 }, (_, i) => `thing-${i}`);

describe('ObjectSnapshot', () => {
  it('equals a Map after any history, as do all previous snapshots', () => {
    const change = fc.record({ name: fc.constantFrom(...NAMES), remove: fc.boolean(), read: fc.boolean() });
    // A cache of few bytes, so that packed frames are opened repeatedly.
    const frames = fc.constantFrom(undefined, new PackedFrames(8192));
    fc.assert(
      fc.property(
        fc.subarray(NAMES),
        fc.array(change, { maxLength: 150 }),
        frames,
        (initial, changes, form) => {
          let snapshot = built(initial, form);
          const model = new Map(initial.map((name) => [name, '1']));
          const before: [Things, Map<string, string>][] = [];
          for (const [i, { name, remove: gone, read }] of changes.entries()) {
            if (read) {
              before.push([snapshot, new Map(model)]);
              contents(snapshot);
            }
            const version = i + 2;
            snapshot = gone ? remove(snapshot, name, version) : set(snapshot, name, version);
            if (gone) model.delete(name);
            else model.set(name, String(version));
          }
          for (const [then, expected] of [...before, [snapshot, model] as const]) {
            expect(contents(then)).to.deep.equal(Object.fromEntries(expected));
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('keeps chunks within limits while thousands of objects change', () => {
    let snapshot = built([]);
    const names = Array.from({ length: 2000 }, (_, i) => `n-${(i * 7919) % 2000}`);
    for (const [i, name] of names.entries()) snapshot = set(snapshot, name, i + 2);
    expect(Math.max(...snapshot.chunks.map((chunk) => chunk.objects.length))).to.be.at.most(CHUNK_OBJECTS);
    expect(snapshot.chunks.length).to.be.at.most((2000 / CHUNK_OBJECTS) * 2);
    for (const [i, name] of names.slice(20).entries()) snapshot = remove(snapshot, name, i + 5000);
    expect(snapshot.size).to.equal(20);
    expect(snapshot.chunks.length).to.be.at.most(2);
  });

  it('does not join chunks of large objects, because a change copies a chunk', () => {
    const frames = new PackedFrames();
    const builder = new SnapshotBuilder<{ readonly size: number }>(frames);
    const note = JSON.stringify('x'.repeat(200_000));
    for (let i = 0; i < 10; i++) {
      const raw = rawThing(`large-${i}`, 1).toString().replace('"spec"', `"note":${note},"spec"`);
      builder.add(new ObjectReader(THINGS).read(Buffer.from(raw)));
    }
    let snapshot = builder.build(1n);
    for (let i = 0; i < 9; i++) {
      snapshot = remove(set(snapshot, `large-${i}-small`, 2 + 2 * i), `large-${i}-small`, 3 + 2 * i);
    }
    expect(Math.max(...snapshot.chunks.map((chunk) => chunk.length()))).to.be.at.most(2 * frames.bytes);
  });

  /** Ratio of the size of the buffers that the objects keep in memory to the size of the objects. */
  function waste(snapshot: Things): number {
    const buffers = new Set([...snapshot.objects()].map(({ bytes }) => bytes.buffer));
    const held = [...buffers].reduce((sum, buffer) => sum + buffer.byteLength, 0);
    return held / [...snapshot.objects()].reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  for (const [what, count, rounds, change, changes, most] of [
    ['all objects changed often', 200, 20, set, () => true, 1.6],
    ['most objects were replaced', 200, 1, set, (i: number) => i % 4 > 0, 1.6],
    ['most objects were deleted', 2000, 1, remove, (i: number) => i % 50 > 0, 3],
    ['many objects of each chunk were deleted', 320, 1, remove, (i: number) => i % 32 > 12, 1.6],
  ] as const) {
    it(`releases the buffers of chunks after ${what}`, () => {
      const names = Array.from({ length: count }, (_, i) => `thing-${1000 + i}`);
      let snapshot = built(names);
      for (let round = 0; round < rounds; round++) {
        for (const [i, name] of names.entries())
          if (changes(i)) snapshot = change(snapshot, name, round + i + 2);
      }
      expect(waste(snapshot)).to.be.lessThan(most);
    });
  }

  describe('with large objects', () => {
    const reader = new ObjectReader(THINGS);
    const large = (name: string, version: number, bytes: number) => {
      const metadata = { name, resourceVersion: String(version) };
      return reader.read(Buffer.from(JSON.stringify({ metadata, filler: name.repeat(bytes) })));
    };
    const largest = (snapshot: Things): number =>
      Math.max(...snapshot.pieces().map((piece) => piece.json().length));

    it('limits the size of chunks when objects are added', () => {
      let snapshot = built([]);
      for (const [i, name] of ['b', 'a', 'c', 'd', 'a', 'c'].entries()) {
        const previous = snapshot.get(name);
        const bytes = name === 'c' ? 1_200_000 : 700_000;
        const { object } = new Change('ADDED', large(name, i + 2, bytes), previous);
        snapshot = snapshot.with(BigInt(i + 2), object, previous);
      }
      expect(largest(snapshot)).to.be.lessThan(1_300_000);
      expect(Object.keys(contents(snapshot))).to.deep.equal(['a', 'b', 'c', 'd']);
    });

    it('limits the size of chunks when it is built', () => {
      const builder = new SnapshotBuilder<{ readonly size: number }>();
      const names = 'abcdefgh'.split('');
      for (const name of names) builder.add(large(name, 1, 300_000));
      const snapshot = builder.build(1n);
      expect(largest(snapshot)).to.be.lessThan(1_000_000);
      expect(contents(snapshot)).to.have.all.keys(...names);
      for (const { name, bytes } of snapshot.objects()) {
        expect(bytes.includes(name.repeat(300_000))).to.equal(true);
      }
    });
  });
});
