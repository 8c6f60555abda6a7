// Tests of the reader of one page of log records from VictoriaLogs.
import { expect } from 'chai';
import { VictoriaLogsLogStore } from '../../../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import type { Selection } from '../../../../../../server/logging/log-store.ts';
import { FIELDS } from '../../../../../support/logging/victorialogs.ts';

const RANGE = { start: '2026-01-01T00:00:00.000000000Z', end: '2026-01-02T00:00:00.000000000Z' };
const SELECTION: Selection = { scope: { everything: true }, range: RANGE };

describe('the position of a page', () => {
  const store = new VictoriaLogsLogStore({
    url: 'http://127.0.0.1:1',
    fields: FIELDS,
  });

  it('is rejected with the name of the parameter when it is from another store', async () => {
    const texts = [
      '',
      'x',
      RANGE.start,
      `${RANGE.start} 0`,
      `${RANGE.start} 1 1`,
      `${RANGE.start} -1`,
      '1767225600123456789.7',
      // The store fails at such times.
      '0000-01-01T00:00:00.000000000Z 20000',
      '9999-12-31T23:59:59.999999999Z 20000',
    ];
    for (const after of texts) {
      const call = { signal: new AbortController().signal, timeoutMs: 1_000 };
      const page = store.query(SELECTION, { order: 'asc', size: 1, from: 0, after }, call);
      const error: unknown = await page.catch((failure: unknown) => failure);
      expect(error, after).to.have.property('code', 400);
      expect(error, after).to.have.nested.property('details.causes[0].field', 'cursor');
    }
  });
});
