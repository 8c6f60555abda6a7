// Tests of the parser of VictoriaLogs responses.
import { expect } from 'chai';
import { TimeSlicer } from '../../../../../../server/concurrency/time-slicer.ts';
import { rowsOf } from '../../../../../../server/logging/backends/victorialogs/rows.ts';

async function* body(): AsyncGenerator<Buffer, void, undefined> {
  yield Buffer.from('{"_msg":"a ');
  yield Buffer.from('line"}\n{"_msg":"b"}\n');
}

describe('the rows of a VictoriaLogs response', () => {
  it('are parsed for one response per turn of the event loop', async () => {
    // With slices of 0 ms, each parse ends its slice.
    const slicer = new TimeSlicer(0);
    let turn = 0;
    let reading = true;
    const next = (): void => {
      turn++;
      if (reading) setImmediate(next);
    };
    setImmediate(next);
    const parsedIn: number[] = [];
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        for await (const rows of rowsOf(body(), slicer)) {
          expect(rows).to.deep.equal([{ _msg: 'a line' }, { _msg: 'b' }]);
          parsedIn.push(turn);
        }
      }),
    );
    reading = false;
    expect(new Set(parsedIn)).to.have.property('size', 5);
  });
});
