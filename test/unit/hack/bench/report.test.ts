// Tests of the benchmark report.
import { expect } from 'chai';
import type { Group } from '../../../../hack/bench/options.ts';
import { merged, type Report } from '../../../../hack/bench/report.ts';
import { atLeast, atMost, below, milliseconds, perSecond } from '../../../../hack/bench/rows/row.ts';

describe('the report of the bench', () => {
  it('reports whether a goal is met', () => {
    expect(atMost('list', 200, 40, 0.2, milliseconds)).to.deep.include({ ratio: '0.200 ×', met: true });
    expect(atMost('list', 200, 41, 0.2, milliseconds)).to.deep.include({ ratio: '0.205 ×', met: false });
    expect(atLeast('get', 2000, 19_000, 10, perSecond)).to.deep.include({ ratio: '9.5 ×', met: false });
    expect(below('memory', 239, 240, String)).to.deep.include({ goal: '< 240', met: true });
    expect(below('memory', 240, 240, String)).to.deep.include({ met: false });
  });

  it('reports no goal as met without a measurement', () => {
    expect(atMost('list', Number.NaN, 40, 0.2, milliseconds).met).to.equal(false);
    expect(atLeast('get', 2000, Number.NaN, 10, perSecond).met).to.equal(false);
  });

  it('keeps the groups that were not measured', () => {
    const report = (date: string, ...names: readonly Group[]): Report => ({
      machine: { cores: 2, memoryGB: 24, system: '', node: '', loadCore: 1, serverCore: 0 },
      nodes: 5000,
      kubernetes: 'v1.36.3',
      groups: Object.fromEntries(
        names.map((name) => [name, { date, loadBefore: 0, processor: 'X', rows: [] }]),
      ),
    });
    const { groups } = merged(report('before', 'list', 'get'), report('now', 'get', 'logs'));
    expect(Object.entries(groups).map(([name, group]) => `${name} ${group.date}`)).to.have.members([
      'list before',
      'get now',
      'logs now',
    ]);
  });
});
