import { expect } from 'chai';
import { StatusError } from '../../../../../../../apis/meta/v1/errors.ts';
import {
  readPosition,
  writePosition,
} from '../../../../../../../server/logging/backends/victorialogs/paging/position.ts';

const POSITION = { time: '2026-11-20T10:00:00.123456789Z', given: 3 };

describe('the position in pages of VictoriaLogs', () => {
  it('comes back as it was written', () => {
    expect(readPosition(writePosition(POSITION))).to.deep.equal(POSITION);
  });

  it('is refused with the name of the parameter when it is that of another store', () => {
    const text = writePosition(POSITION);
    for (const other of [
      '',
      'x',
      `${text} 1`,
      POSITION.time,
      `${POSITION.time} 0`,
      '1767225600123456789.7',
    ]) {
      expect(() => readPosition(other), other)
        .to.throw(StatusError, 'cursor: is none of the log store victorialogs; omit it')
        .with.nested.property('details.causes[0].field', 'cursor');
    }
  });
});
