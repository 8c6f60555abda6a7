// Tests of the benchmark report.
import { expect } from 'chai';
import type { Group } from '../../../../hack/bench/options.ts';
import { markdown, merged, type Report, table } from '../../../../hack/bench/report.ts';
import {
  atLeast,
  atMost,
  below,
  megabytes,
  milliseconds,
  perSecond,
} from '../../../../hack/bench/rows/row.ts';

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

  it('aligns the table and marks missed goals', () => {
    const rows = [atMost('list', 200, 100, 0.2, milliseconds), below('x', 1, 2, milliseconds)];
    const lines = table(rows).split('\n');
    expect(new Set(lines.map((line) => line.length)).size).to.equal(1);
    expect(lines[2]).to.contain('**no**');
    expect(lines[3]).to.contain('yes');
  });

  it('keeps the groups that were not measured', () => {
    const report = (date: string, ...names: readonly Group[]): Report => ({
      machine: { cores: 2, processor: 'X', memoryGB: 24, system: '', node: '', loadCore: 1, serverCore: 0 },
      nodes: 5000,
      kubernetes: 'v1.36.3',
      groups: Object.fromEntries(names.map((name) => [name, { date, loadBefore: 0, rows: [] }])),
    });
    const { groups } = merged(report('before', 'list', 'get'), report('now', 'get', 'logs'));
    expect(Object.entries(groups).map(([name, group]) => `${name} ${group.date}`)).to.have.members([
      'list before',
      'get now',
      'logs now',
    ]);
  });

  it('formats common units', () => {
    expect([0.36, 45, 2300].map(milliseconds)).to.deep.equal(['0.36 ms', '45 ms', '2.30 s']);
    expect([2.4e6, 40e6].map(megabytes)).to.deep.equal(['2.40 MB', '40 MB']);
    expect(perSecond(22_123.4)).to.equal('22,123/s');
  });

  it('describes the machine without identifying it', () => {
    const machine = {
      cores: 2,
      processor: 'X',
      memoryGB: 24,
      system: 'Linux 6.1',
      node: 'v24.21.0',
      loadCore: 1,
      serverCore: 0,
    };
    const row = { ...atMost('list', 200, 40, 0.2, milliseconds), note: 'a remark' };
    const date = '2026-11-21T00:00:00Z';
    const groups = { list: { date, loadBefore: 0.1, rows: [row] } };
    const text = markdown({ machine, nodes: 5000, kubernetes: 'v1.36.3', groups });
    expect(text).to.contain('list: 2026-11-21, load average before 0.10');
    expect(text).to.contain('2 cores (X), 24 GB, Linux 6.1').and.to.contain('- list: a remark');
  });
});
