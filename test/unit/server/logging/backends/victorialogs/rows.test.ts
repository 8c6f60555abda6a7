// Tests of the parser of VictoriaLogs responses.
import { expect } from 'chai';
import { TimeSlicer } from '../../../../../../server/concurrency/time-slicer.ts';
import { rowsOf } from '../../../../../../server/logging/backends/victorialogs/rows.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { WorkPerTurn } from '../../../../../support/work-per-turn.ts';

async function* body(): AsyncGenerator<Buffer, void, undefined> {
  yield Buffer.from('{"_msg":"a ');
  yield Buffer.from('line"}\n{"_msg":"b"}\n');
}

describe('the rows of a VictoriaLogs response', () => {
  it('are parsed for one response per turn of the event loop', async () => {
    // With slices of 0 ms, each parse ends its slice.
    const slices = new TimeSlicer(0).of({});
    const work = new WorkPerTurn();
    const read = async () => {
      for await (const rows of rowsOf(body(), slices)) {
        expect(rows).to.deep.equal([{ _msg: 'a line' }, { _msg: 'b' }]);
        work.note();
      }
    };
    await Promise.all(Array.from({ length: 5 }, read));
    expect(work.most).to.equal(1);
  });

  it('are rejected if a value is deeply nested', async () => {
    async function* nested(): AsyncGenerator<Buffer, void, undefined> {
      yield Buffer.from(`{"_msg":${'['.repeat(1_000_000)}`);
      yield Buffer.from('\n');
    }
    const read = Array.fromAsync(rowsOf(nested(), new TimeSlicer().of({})));
    expect((await rejection(read)).message).to.equal('the response is malformed: a line is not JSON');
  });
});
