import { expect } from 'chai';
import { Turns } from '../../../../../../../server/concurrency/turns.ts';
import { rowsOf } from '../../../../../../../server/logging/backends/victorialogs/requests/rows.ts';

async function* body(): AsyncGenerator<Buffer, void, undefined> {
  yield Buffer.from('{"_msg":"a line"}\n');
}

describe('rows of VictoriaLogs', () => {
  it('are not read of many answers in one turn of the event loop', async () => {
    // Every piece of work uses up its slice.
    const turns = new Turns(0);
    let turn = 0;
    let reading = true;
    const next = (): void => {
      turn++;
      if (reading) setImmediate(next);
    };
    setImmediate(next);
    const readIn: number[] = [];
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        for await (const rows of rowsOf(body(), turns)) {
          expect(rows).to.deep.equal([{ _msg: 'a line' }]);
          readIn.push(turn);
        }
      }),
    );
    reading = false;
    expect(new Set(readIn)).to.have.property('size', 5);
  });
});
