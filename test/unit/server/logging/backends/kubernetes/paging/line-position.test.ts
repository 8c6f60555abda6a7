import { expect } from 'chai';
import {
  readPosition,
  writePosition,
} from '../../../../../../../server/logging/backends/kubernetes/paging/line-position.ts';
import type { LogSource } from '../../../../../../../server/logging/backends/kubernetes/pods/log-source.ts';
import { at } from '../instants.ts';
import { logSource } from '../log-source.ts';

/** `id`: empty for a run of which the kubelet has not told one. */
const sourceOf = (pod: string, id = '', previous = false): LogSource =>
  logSource(pod, { previous, running: !previous, run: { id } });

const positionAt = (rank: number) => ({
  place: { time: at(7, '', '000000001').time, rank, ordinal: 12 },
  total: { count: 345, relation: 'eq' as const },
  span: 6_000,
});

describe('where a page of pod logs ended', () => {
  const named = [sourceOf('a'), sourceOf('b', '', true), sourceOf('b'), sourceOf('c')];
  const known = [sourceOf('a', '1'), sourceOf('b', '2', true), sourceOf('b', '3'), sourceOf('c', '4')];

  for (const [which, sources] of [
    ['names', named],
    ['runs', known],
  ] as const) {
    it(`is found again by the ${which} of the logs, with all that it says`, () => {
      for (const rank of sources.keys()) {
        for (const relation of ['eq', 'gte'] as const) {
          const position = { ...positionAt(rank), total: { count: 345, relation } };
          expect(readPosition(writePosition(position, sources), sources)).to.deep.equal(position);
        }
      }
    });
  }

  const rankAmong = (from: readonly LogSource[], rank: number, now: readonly LogSource[]): number =>
    readPosition(writePosition(positionAt(rank), from), now).place.rank;

  it('is between two others when its log is no longer there', () => {
    expect(rankAmong(named, 2, [sourceOf('a'), sourceOf('c')])).to.equal(0.5);
    expect(rankAmong(named, 3, [sourceOf('a'), sourceOf('b')])).to.equal(1.5);
    expect(rankAmong(named, 0, [sourceOf('b'), sourceOf('c')])).to.equal(-0.5);
    expect(rankAmong(known, 3, [sourceOf('a', '1')])).to.equal(0.5);
  });

  it('goes with a run that is the one before by now, and stands before the others when that is gone', () => {
    const once = [sourceOf('a', '1'), sourceOf('b', '2'), sourceOf('c', '3')];
    const anew = [sourceOf('a', '1'), sourceOf('b', '2', true), sourceOf('b', '5'), sourceOf('c', '3')];
    expect(rankAmong(once, 1, anew)).to.equal(1);
    const again = [sourceOf('a', '1'), sourceOf('b', '5', true), sourceOf('b', '6'), sourceOf('c', '3')];
    expect(rankAmong(once, 1, again)).to.equal(0.5);
  });

  it('is none in other words', () => {
    const text = writePosition(positionAt(0), named);
    for (const other of ['', 'x', `x${text}`, text.slice(1), `${text}${'x'.repeat(25)}`]) {
      expect(() => readPosition(other, named), other).to.throw('cursor: is none of the log store kubernetes');
    }
  });
});
