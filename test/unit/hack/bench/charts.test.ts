// Tests of the charts of the bench.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { comparison } from '../../../../hack/bench/bars.ts';
import { charts } from '../../../../hack/bench/charts.ts';
import type { Report } from '../../../../hack/bench/report.ts';

const RESULTS = join(import.meta.dirname, '../../../../hack/bench/results.json');

const { groups } = JSON.parse(await readFile(RESULTS, 'utf8')) as Report;
const rows = Object.values(groups).flatMap((group) => group.rows);

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
});
