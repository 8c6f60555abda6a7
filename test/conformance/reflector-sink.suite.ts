// Conformance tests of the stores that a reflector fills, such as caches.
import { expect } from 'chai';
import type { ReflectorSink } from '../../server/cluster/reflector/reflector-sink.ts';
import { rawThing } from '../support/cluster/raw-objects.ts';

/** The content of a sink as `name@resourceVersion` in any order; undefined before the first list. */
interface SinkUnderTest {
  readonly sink: ReflectorSink;
  contents(): readonly string[] | undefined;
}

/** The contract of reflector sinks. */
export function describeReflectorSink(title: string, create: () => SinkUnderTest): void {
  describe(`${title} as a reflector sink`, () => {
    function filled(): SinkUnderTest {
      const tested = create();
      const replacement = tested.sink.replacement();
      for (const name of ['a', 'b']) replacement.add(rawThing(name, 5));
      replacement.commit('10');
      return tested;
    }
    const held = (tested: SinkUnderTest) => tested.contents()?.toSorted();

    it('is empty before the first commit', () => {
      const tested = create();
      tested.sink.replacement().add(rawThing('a', 5));
      expect(held(tested)).to.equal(undefined);
    });

    it('is complete after an empty list', () => {
      const tested = create();
      tested.sink.replacement().commit('10');
      expect(held(tested)).to.deep.equal([]);
    });

    it('discards a list without a commit', () => {
      const tested = filled();
      tested.sink.replacement().add(rawThing('c', 11));
      expect(held(tested)).to.deep.equal(['a@5', 'b@5']);
    });

    it('replaces all objects at a commit, also with an earlier resourceVersion', () => {
      const tested = filled();
      const replacement = tested.sink.replacement();
      replacement.add(rawThing('c', 3));
      replacement.commit('4');
      tested.sink.apply('ADDED', rawThing('d', 6));
      expect(held(tested)).to.deep.equal(['c@3', 'd@6']);
    });

    it('applies changes', () => {
      const tested = filled();
      tested.sink.apply('MODIFIED', rawThing('a', 11));
      tested.sink.apply('ADDED', rawThing('c', 12));
      tested.sink.apply('DELETED', rawThing('b', 13));
      tested.sink.bookmark('14');
      expect(held(tested)).to.deep.equal(['a@11', 'c@12']);
    });

    it('keeps no buffer of the reflector', () => {
      const tested = create();
      const bytes = [rawThing('a', 5), rawThing('b', 11)];
      const replacement = tested.sink.replacement();
      replacement.add(bytes[0] ?? Buffer.alloc(0));
      bytes[0]?.fill(0);
      replacement.commit('10');
      tested.sink.apply('ADDED', bytes[1] ?? Buffer.alloc(0));
      bytes[1]?.fill(0);
      expect(held(tested)).to.deep.equal(['a@5', 'b@11']);
    });

    it('keeps its objects when one is unreadable, whether it throws or leaves it out', () => {
      const tested = filled();
      for (const text of ['{"metadata":{"resourceVersion":"20"}}', '{"metadata":']) {
        try {
          tested.sink.apply('ADDED', Buffer.from(text));
        } catch (error) {
          expect(error).to.be.instanceOf(SyntaxError);
        }
      }
      expect(held(tested)).to.deep.equal(['a@5', 'b@5']);
    });
  });
}
