// Tests of the columns of a list that grow while the user scrolls.
import { expect } from 'chai';
import type { Cell, Column } from '../../../../client/kind-columns.ts';
import { columnsOf } from '../../../../explore/list/list-columns.ts';

const columns = ['Status', 'Node', 'Restarts'].map(
  (name): Column => ({ name, type: 'string', format: '', description: '', priority: 0 }),
);
const row = (...cells: Cell[]) => ({ uid: 'a', name: 'a', namespace: undefined, cells });

describe('the columns of a list', () => {
  it('have no width without a value', () => {
    const found = columnsOf({ columns, rows: [row('Running', null, 1), row('Pending', null, 2)] }, []);
    expect(found.map(({ width }) => width > 0)).to.deep.equal([true, false, true]);
    expect(found.map(({ isNumber }) => isNumber)).to.deep.equal([false, false, true]);
  });

  it('only grow while other rows of the list are loaded', () => {
    const long = columnsOf({ columns, rows: [row('CrashLoopBackOff', 'node-1', 1)] }, []);
    expect(columnsOf({ columns, rows: [row(null, null, null)] }, long)).to.deep.equal(long);
    const [status, node] = columnsOf({ columns, rows: [row('Running', 'n'.repeat(30), 1)] }, long);
    expect(status?.width).to.equal(long[0]?.width);
    expect(node?.width).to.be.above(long[1]?.width ?? 0);
  });

  it('do not take the widths of other columns', () => {
    const long = columnsOf({ columns, rows: [row('CrashLoopBackOff', 'node-1', 1)] }, []);
    const [node] = columnsOf({ columns: columns.slice(1), rows: [row('n')] }, long);
    expect(node?.width).to.be.below(long[0]?.width ?? 0);
  });
});
