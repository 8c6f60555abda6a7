// Tests of log queries over long lines of pod logs.
import { setImmediate as round } from 'node:timers/promises';
import { expect } from 'chai';
import { maxLineLength } from '../../../../../../server/logging/matching/line-matcher.ts';
import type { TextFilter } from '../../../../../../server/logging/store/log-store.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { at, call, everything } from './instants.ts';
import { clusterForEachTest, type LogCluster } from './log-cluster.ts';

/** An expensive pattern, and a line that makes it backtrack. */
const SLOW: TextFilter = { mode: 'regex', texts: ['[ab]*a[ab]{400}c'], caseSensitive: true };
const LETTERS = Array.from({ length: 100_000 }, (_, turn) => ((turn * 7_919) % 31 < 15 ? 'a' : 'b')).join('');

describe('long lines of pod logs', () => {
  let cluster: LogCluster;
  clusterForEachTest((started) => (cluster = started));

  it('are searched up to a length that depends on the pattern, which a partial result reports', async () => {
    const search = async (pattern: string, linesOf: (most: number) => readonly string[]) => {
      const text: TextFilter = { mode: 'regex', texts: [pattern], caseSensitive: true };
      const lines = linesOf(maxLineLength(text));
      const written = lines.map((line, second) => at(second, line));
      cluster.add('shop', 'a', written);
      const request = { order: 'asc', size: 10, from: 0 } as const;
      const page = await cluster.store().query({ ...everything, text }, request, call);
      return [page.records.map(({ log }) => lines.indexOf(log)), page.shortfalls.map(({ reason }) => reason)];
    };
    const match = `x${'-'.repeat(498)}y`;
    const short = (most: number) => [match.padEnd(most, '-'), '-'.repeat(most)];
    expect(await search('x.{498}y', short)).to.deep.equal([[0], []]);
    const long = (most: number) => [match.padEnd(most + 1, '-'), '-'.repeat(most) + match];
    expect(await search('x.{498}y', long)).to.deep.equal([[0], ['Limit']]);
    // `$` does not match at the end of the searched part.
    const cut = (most: number) => ['b'.repeat(most), `${'b'.repeat(most)}c`];
    expect(await search('b{500}$', cut)).to.deep.equal([[0], ['Limit']]);
  });

  it('do not block the event loop, and stop when the caller leaves', async () => {
    const lines = Array.from({ length: 200 }, (_, index) => at(index + 1, LETTERS));
    cluster.add('shop', 'a', lines);
    const left = new AbortController();
    const store = cluster.store();
    const failure = rejection(
      store.statistics({ ...everything, text: SLOW }, { ...call, signal: left.signal }),
    );
    for (let rounds = 0; rounds < 1_000; rounds++) await round();
    left.abort(new Error('left'));
    expect(await failure).to.include({ message: 'left' });
  });
});
