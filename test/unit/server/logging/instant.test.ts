import { expect } from 'chai';
import { MAX_SECONDS } from '../../../../apis/logging/v1alpha2/log-query.ts';
import { BEGINNING, instantOf, isQueryable } from '../../../../server/logging/instant.ts';

describe('isQueryable', () => {
  it('accepts times from the epoch to the last second that parameters accept', () => {
    for (const time of [BEGINNING, instantOf((MAX_SECONDS + 1) * 1000), '2026-11-20T10:00:00.123456789Z']) {
      expect(isQueryable(time), time).to.equal(true);
    }
    for (const time of [
      instantOf(-1),
      instantOf((MAX_SECONDS + 1) * 1000 + 1),
      '2026-02-30x',
      '2026-02-30T10:00:00.000000000Z',
      '2026-11-20T24:00:00.000000000Z',
      '2026-11-20T10:00:00Z',
      '',
      5,
      undefined,
    ]) {
      expect(isQueryable(time), String(time)).to.equal(false);
    }
  });
});
