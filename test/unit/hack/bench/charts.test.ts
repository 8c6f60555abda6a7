// Tests of the charts of the bench.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { comparison, shareOfLimit } from '../../../../hack/bench/bars.ts';
import { charts } from '../../../../hack/bench/charts.ts';
import type { Report } from '../../../../hack/bench/report.ts';
import { type Row } from '../../../../hack/bench/rows/row.ts';

const RESULTS = join(import.meta.dirname, '../../../../hack/bench/results.json');

const { groups } = JSON.parse(await readFile(RESULTS, 'utf8')) as Report;
const rows = Object.values(groups).flatMap((group) => group.rows);

const row = (peer: string, ours: string, ratio: string, goal: string): Row => ({
  work: 'work',
  peer,
  ours,
  ratio,
  goal,
  met: true,
});

describe('the charts of the bench', () => {
  it('contain each row of the table once, beside the overview', () => {
    const drawn = charts(groups)
      .filter(({ name }) => name !== 'overview')
      .flatMap(({ svg }) => [...svg.matchAll(/<g><title>(.*?)<\/title>/g)].map(([, title = '']) => title));
    expect(drawn).to.have.length(rows.length);
    for (const { work, ours } of rows)
      expect(
        drawn.filter((title) => title.startsWith(`${work}, `) && title.endsWith(ours.replace(' lines', ''))),
        work,
      ).to.have.length(1);
  });

  it('show a bar that reaches its mark exactly for the goals that are met', () => {
    // Figures of the table are rounded.
    const [reaches, misses] = [0.98, 1.02];
    for (const row of rows.filter(({ ratio }) => ratio)) {
      const { value, goal } = comparison(row, '');
      if (row.met) expect(value / goal, row.work).to.be.at.least(reaches);
      else expect(value / goal, row.work).to.be.at.most(misses);
    }
  });

  it('show better figures to the right, for times and for rates', () => {
    const time = comparison(row('200 ms', '20 ms', '0.100 ×', '≤ 0.200 ×'), '');
    expect([time.value, time.goal]).to.deep.equal([10, 5]);
    const rate = comparison(row('1,000/s', '500/s', '0.50 ×', '≥ 0.7 ×'), '');
    expect(rate).to.deep.include({ value: 0.5, goal: 0.7, bad: true, figure: '0.50 ×' });
  });

  it('understand goals that are differences, multiples with an allowance, and absolute', () => {
    const goalOf = (peer: string, goal: string): number => comparison(row(peer, peer, '1 ×', goal), '').goal;
    expect(goalOf('1.00 s', '≤ +250 ms')).to.equal(0.8);
    expect(goalOf('400 ms', '≤ 100 ms later')).to.equal(0.8);
    expect(goalOf('4 ms', '≤ 1.5 × + 2 ms')).to.equal(0.5);
    expect(goalOf('3 ms', '≤ 2.0 ×, only 200 and 429')).to.equal(0.5);
    expect(goalOf('3 ms', 'not later')).to.equal(1);
    expect(goalOf('5,000/s', '≥ 15,000/s')).to.equal(3);
  });

  it('show the share of a limit', () => {
    expect(shareOfLimit({ work: 'w', ours: '1.02 s', goal: '< 510 ms', met: false }, '')).to.deep.include({
      value: 2,
      figure: '200 % ✗',
      bad: true,
    });
  });

  it('are not drawn from a figure without a unit', () => {
    expect(() => comparison(row('fast', '20 ms', '', '≤ 1 ×'), '')).to.throw('"fast"');
    expect(() => shareOfLimit(row('', '20 ms', '', 'soon'), '')).to.throw('"soon"');
  });
});
