// Tests of the filter of pod log lines.
import { expect } from 'chai';
import { pino } from 'pino';
import { lineFilter } from '../../../../../../server/logging/backends/kubernetes/line-filter.ts';
import type { Selection, TextFilter } from '../../../../../../server/logging/log-store.ts';
import { maxLineLength } from '../../../../../../server/logging/matching/line-matcher.ts';
import { LongLines } from '../../../../../../server/logging/matching/long-lines.ts';

const range = { start: '2026-11-21T00:00:00.000000000Z', end: '2026-11-22T00:00:00.000000000Z' };

function regex(...texts: [string, ...string[]]): TextFilter {
  return { mode: 'regex', texts, caseSensitive: true };
}

describe('the line filter', () => {
  const longLines = new LongLines({ log: pino({ enabled: false }) });
  const { signal } = new AbortController();
  let partial = 0;
  after(() => longLines.close());

  const filterOf = (text: TextFilter) => {
    const selection: Selection = { scope: { everything: true }, range, text };
    partial = 0;
    return lineFilter(selection, { longLines, signal, onPartialSearch: () => partial++ });
  };

  it('reports lines if it searches only their start', async () => {
    const most = maxLineLength(regex('x.{498}y'));
    const filter = filterOf(regex('x.{498}y'));
    const found = `x${'-'.repeat(498)}y`;
    expect(await filter(`${found}${'-'.repeat(most - found.length)}`)).to.equal(true);
    expect(await filter('-'.repeat(most))).to.equal(false);
    expect(partial).to.equal(0);
    expect(await filter(`${found}${'-'.repeat(most)}`)).to.equal(true);
    expect(await filter(`${'-'.repeat(most)}${found}`)).to.equal(false);
    expect(partial).to.equal(2);
  });

  it('does not match `$` at the end of the searched part', async () => {
    const pattern = `b{500}$`;
    const most = maxLineLength(regex(pattern));
    expect(await filterOf(regex(pattern))('b'.repeat(most))).to.equal(true);
    expect(await filterOf(regex(pattern))(`${'b'.repeat(most)}c`)).to.equal(false);
    expect(partial).to.equal(1);
  });
});
