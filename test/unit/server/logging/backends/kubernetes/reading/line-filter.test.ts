import { expect } from 'chai';
import { lineFilter } from '../../../../../../../server/logging/backends/kubernetes/reading/line-filter.ts';
import type { Selection, TextFilter } from '../../../../../../../server/logging/log-store.ts';
import { lookableLength } from '../../../../../../../server/logging/matching/line-matcher.ts';

const range = { start: '2026-11-21T00:00:00.000000000Z', end: '2026-11-22T00:00:00.000000000Z' };

function regex(...texts: [string, ...string[]]): TextFilter {
  return { mode: 'regex', texts, caseSensitive: true };
}

describe('the filter of pod logs', () => {
  let shortened = 0;
  const filterOf = (text: TextFilter) => {
    const selection: Selection = { scope: { everything: true }, range, text };
    shortened = 0;
    return lineFilter(selection, () => shortened++);
  };

  it('looks at less of a line the larger the patterns are', () => {
    expect(lookableLength(regex('a'))).to.equal(40 << 20);
    expect(lookableLength(regex('a{100}'))).to.equal(Math.floor((40 << 20) / 100));
    expect(lookableLength(regex('(ab){50}', 'x.[cd]'))).to.equal(Math.floor((40 << 20) / 103));
    expect(lookableLength({ mode: 'substring', texts: ['a'.repeat(900)], caseSensitive: true })).to.equal(
      Number.POSITIVE_INFINITY,
    );
  });

  it('tells of lines that it has not seen to their end', () => {
    const most = lookableLength(regex('x.{498}y'));
    const filter = filterOf(regex('x.{498}y'));
    const found = `x${'-'.repeat(498)}y`;
    expect(filter(`${found}${'-'.repeat(most - found.length)}`)).to.equal(true);
    expect(filter('-'.repeat(most))).to.equal(false);
    expect(shortened).to.equal(0);
    expect(filter(`${found}${'-'.repeat(most)}`)).to.equal(true);
    expect(filter(`${'-'.repeat(most)}${found}`)).to.equal(false);
    expect(shortened).to.equal(2);
  });

  it('takes no cut for the end of a line', () => {
    const pattern = `b{500}$`;
    const most = lookableLength(regex(pattern));
    expect(filterOf(regex(pattern))('b'.repeat(most))).to.equal(true);
    expect(filterOf(regex(pattern))(`${'b'.repeat(most)}c`)).to.equal(false);
    expect(shortened).to.equal(1);
  });
});
