import { expect } from 'chai';
import { Turns } from '../../../../../../../server/concurrency/turns.ts';
import { recordsOf } from '../../../../../../../server/logging/backends/victorialogs/requests/record.ts';
import { FIELDS } from '../../../../../../support/logging/victorialogs.ts';
import { WorkPerTurn } from '../../../../../../support/work-per-turn.ts';

describe('rows of VictoriaLogs as records', () => {
  it('are judged in turns, as lines may be long and many', async () => {
    const work = new WorkPerTurn();
    const rows = Array.from({ length: 100 }, (_, number) => ({
      _time: '2026-01-01T12:00:00Z',
      _msg: `line ${number}`,
    }));
    const isMeant = ({ log }: { readonly log: string }): boolean => {
      work.note();
      return log.endsWith('0');
    };
    const records = await recordsOf(rows, FIELDS, new Turns(0), isMeant);
    expect(records.map(({ log }) => log)).to.have.length(10);
    expect(work.most).to.be.below(10);
  });
});
