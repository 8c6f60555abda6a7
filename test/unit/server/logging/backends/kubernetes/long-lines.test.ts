// Tests of log queries over long lines of pod logs.
import { expect } from 'chai';
import { millisecondsOf } from '../../../../../../server/logging/store/instant.ts';
import type { TextFilter } from '../../../../../../server/logging/store/log-store.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { at, call, everything } from './instants.ts';
import { clusterForEachTest, type LogCluster } from './log-cluster.ts';

const MOST = 32_768;

describe('long lines of pod logs', () => {
  let cluster: LogCluster;
  clusterForEachTest((started) => (cluster = started));

  /** Returns the indices of the found lines, and the reasons why the result is partial. */
  async function search(mode: TextFilter['mode'], searched: TextFilter['texts'], lines: readonly string[]) {
    const text: TextFilter = { mode, texts: searched, caseSensitive: false };
    cluster.add(
      'shop',
      'a',
      lines.map((line, second) => at(second, line)),
    );
    const request = { order: 'asc', size: 10, from: 0 } as const;
    const page = await cluster.store().query({ ...everything, text }, request, call);
    return [page.records.map(({ log }) => lines.indexOf(log)), page.shortfalls.map(({ reason }) => reason)];
  }

  it('are searched as a whole for a substring', async () => {
    const sought = 'x'.repeat(1_000);
    const lines = [-1_000, -500, 0, 1].map(
      (begin) => `${' '.repeat(MOST + begin)}${sought.toUpperCase()}${' '.repeat(1_000)}`,
    );
    expect(
      await search('substring', [sought], [...lines, `${' '.repeat(MOST)}${sought.slice(1)} x`]),
    ).to.deep.equal([lines.map((_, index) => index), []]);
  });

  it('are searched at their start for words, which a partial result reports', async () => {
    const words = 100;
    const most = Math.floor((8 << 20) / words);
    const found = `${'b'.repeat(most - 5)} aaa c`;
    const late = `${'b'.repeat(most)} aaa`;
    // The cut is within the word.
    const cut = `${'b'.repeat(most - 4)} aaaa`;
    expect(await search('phrase', ['aaa', 'c '.repeat(words - 1)], [found, late, cut])).to.deep.equal([
      [0],
      ['Limit'],
    ]);
  });

  it('are searched as a whole for a text without words, which matches nothing', async () => {
    expect(await search('phrase', ['!'], ['!'.repeat(MOST + 1)])).to.deep.equal([[], []]);
  });

  it('are searched for an expression up to a length that depends on it', async () => {
    const match = `x${'-'.repeat(498)}y`;
    const most = Math.floor((1 << 20) / 503);
    const lines = [match.padEnd(most, '-'), match.padEnd(most + 1, '-'), '-'.repeat(most) + match];
    expect(await search('regex', ['x.{498}y'], lines)).to.deep.equal([[0, 1], ['Limit']]);
    // `$` does not match at the end of the searched part.
    expect(await search('regex', ['b{500}$'], [`${'b'.repeat(MOST)}c`])).to.deep.equal([[], ['Limit']]);
  });

  it('are counted by their level', async () => {
    const lines = ['ERROR', 'DEBUG', 'x', 'INFO'].map((word) => `${' '.repeat(MOST)}${word}`);
    cluster.add(
      'shop',
      'a',
      [...lines, 'WARN'].map((line, second) => at(second, line)),
    );
    const { start, end } = everything.range;
    const edges = [start, end].map(millisecondsOf);
    const { severities } = await cluster.store().histogram(everything, { edges, isBySeverity: true }, call);
    expect(severities).to.deep.equal({ fatal: [0], error: [1], warn: [1], info: [1], debug: [1], none: [1] });
  });

  it('are not searched for an expression that RE2 does not support', async () => {
    for (const [pattern, reason] of [
      ['(?<=a)b', /invalid/],
      ['[', /missing closing/],
      ['a{1001}', /invalid repeat count/],
      ['b'.repeat(301), /more than 300 characters/],
    ] as const) {
      const text: TextFilter = { mode: 'regex', texts: [pattern], caseSensitive: true };
      const store = cluster.store();
      const failures = [
        await rejection(store.statistics({ ...everything, text }, call)),
        await rejection(store.follow({ ...everything, text }, { signal: call.signal }).next()),
        await rejection(store.export({ ...everything, text }, 'asc', call).next()),
      ];
      for (const failure of failures)
        expect(failure).to.deep.include({ code: 400 }).and.have.property('message').that.matches(reason);
    }
  });
});
