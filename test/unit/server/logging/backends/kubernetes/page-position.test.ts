// Tests of the position in a page cursor of the pod log store.
import { expect } from 'chai';
import type { ContainerLog } from '../../../../../../server/logging/backends/kubernetes/container-log.ts';
import {
  formatPosition,
  parsePosition,
} from '../../../../../../server/logging/backends/kubernetes/page-position.ts';
import { containerLog } from './container-log.ts';
import { at } from './instants.ts';

/** Returns a container log. `id`: id of the run, empty if the kubelet does not report it. */
const logOf = (pod: string, id = '', previous = false): ContainerLog =>
  containerLog(pod, { previous, running: !previous, run: { id } });

const positionAt = (rank: number) => ({
  line: { time: at(7, '', '000000001').time, rank, ordinal: 12 },
  total: { count: 345, relation: 'eq' as const },
  span: 6_000,
});

describe('the position of a page', () => {
  const named = [logOf('a'), logOf('b', '', true), logOf('b'), logOf('c')];
  const known = [logOf('a', '1'), logOf('b', '2', true), logOf('b', '3'), logOf('c', '4')];

  for (const [which, logs] of [
    ['names', named],
    ['runs', known],
  ] as const) {
    it(`round-trips by the ${which} of the logs`, () => {
      for (const rank of logs.keys()) {
        for (const relation of ['eq', 'gte'] as const) {
          const position = { ...positionAt(rank), total: { count: 345, relation } };
          expect(parsePosition(formatPosition(position, logs), logs)).to.deep.equal(position);
        }
      }
    });
  }

  const rankAmong = (from: readonly ContainerLog[], rank: number, now: readonly ContainerLog[]): number =>
    parsePosition(formatPosition(positionAt(rank), from), now).line.rank;

  it('lies between two logs if its log no longer exists', () => {
    expect(rankAmong(named, 2, [logOf('a'), logOf('c')])).to.equal(0.5);
    expect(rankAmong(named, 3, [logOf('a'), logOf('b')])).to.equal(1.5);
    expect(rankAmong(named, 0, [logOf('b'), logOf('c')])).to.equal(-0.5);
    expect(rankAmong(known, 3, [logOf('a', '1')])).to.equal(0.5);
  });

  it('follows a run that becomes the previous one, and lies before the log of a deleted run', () => {
    const once = [logOf('a', '1'), logOf('b', '2'), logOf('c', '3')];
    const restarted = [logOf('a', '1'), logOf('b', '2', true), logOf('b', '5'), logOf('c', '3')];
    expect(rankAmong(once, 1, restarted)).to.equal(1);
    const again = [logOf('a', '1'), logOf('b', '5', true), logOf('b', '6'), logOf('c', '3')];
    expect(rankAmong(once, 1, again)).to.equal(0.5);
  });

  it('rejects an invalid text', () => {
    const text = formatPosition(positionAt(0), named);
    for (const other of ['', 'x', `x${text}`, text.slice(1), `${text}${'x'.repeat(25)}`]) {
      expect(() => parsePosition(other, named), other).to.throw(
        'cursor: is not a cursor of the log store kubernetes',
      );
    }
  });
});
