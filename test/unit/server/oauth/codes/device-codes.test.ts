// Tests of the user codes of the device flow.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { newUserCode, parseUserCode, requestID } from '../../../../../server/oauth/codes/device-codes.ts';

describe('a user code', () => {
  it('has eight consonants in two groups', () => {
    for (let i = 0; i < 100; i++) {
      expect(newUserCode(randomBytes)).to.match(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    }
  });

  it('discards bytes that would bias the letters', () => {
    const bytes = [255, 250, 240, 239, 0, 19, 20];
    expect(newUserCode((count) => Buffer.from([...bytes, 1].slice(0, count)))).to.equal('ZBZB-CZBZ');
  });

  it('is parsed regardless of case, spaces and hyphens', () => {
    for (const typed of ['BCDF-GHJK', 'bcdfghjk', ' bcdf ghjk ', 'b-c-d-f-g-h-j-k']) {
      expect(parseUserCode(typed), typed).to.equal('BCDF-GHJK');
    }
    for (const typed of ['', 'BCDF-GHJ', 'BCDF-GHJKL', 'ACDF-GHJK', 'BCDF-GHJ1', 'B'.repeat(1000)]) {
      expect(parseUserCode(typed), typed).to.equal(undefined);
    }
  });

  it('maps to one object name that does not reveal it', () => {
    const id = requestID('BCDF-GHJK');
    expect(id)
      .to.match(/^s-[a-z2-7]{20}$/)
      .and.to.equal(requestID('BCDF-GHJK'));
    expect(requestID('BCDF-GHJL')).not.to.equal(id);
  });
});
