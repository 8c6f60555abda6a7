import { expect } from 'chai';
import {
  newBadRequest,
  newExpired,
  newServiceUnavailable,
  newTimeout,
  newTooManyRequests,
} from '../../../../apis/meta/v1/errors.ts';
import { outcomeOf } from '../../../../server/logging/log-metrics.ts';
import { newNotSupported, newStoreTimeout } from '../../../../server/logging/store-errors.ts';

const live = new AbortController().signal;

describe('what became of a log query', () => {
  for (const [what, error, headersSent, outcome] of [
    ['a fault of the caller', newBadRequest('a fault'), false, 'refused'],
    ['too many at a time', newTooManyRequests('too many', 1), false, 'limited'],
    ['a store that is down', newServiceUnavailable('down', 1), false, 'unavailable'],
    ['a store that is slow', newStoreTimeout('memory'), false, 'unavailable'],
    ['a fault of ours', new Error('a fault'), false, 'error'],
    ['a live tail whose caller may see something else by now', newExpired('changed'), true, 'expired'],
    ['a live tail of more than may be followed', newNotSupported('m', 'follow', 'less'), true, 'limited'],
    ['an export whose store fails midway', newServiceUnavailable('down', 1), true, 'unavailable'],
  ] as const) {
    it(`is "${outcome}" of ${what}`, () => {
      expect(outcomeOf(error, { signal: live, headersSent })).to.equal(outcome);
    });
  }

  it('is "canceled" when the caller has left', () => {
    expect(outcomeOf(new Error('gone'), { signal: AbortSignal.abort(), headersSent: true })).to.equal(
      'canceled',
    );
  });

  it('is "canceled" when the caller has left before the answer, whatever the store makes of it', () => {
    for (const error of [newStoreTimeout('memory'), newServiceUnavailable('down', 1)]) {
      expect(outcomeOf(error, { signal: AbortSignal.abort(), headersSent: false })).to.equal('canceled');
    }
  });

  it('is what has ended an answer that had begun, since that closes the connection too', () => {
    const error = newServiceUnavailable('down', 1);
    expect(outcomeOf(error, { signal: AbortSignal.abort(), headersSent: true })).to.equal('unavailable');
  });

  it('is that of the error that has ended the request', () => {
    const error = newTimeout('too long', 1);
    expect(outcomeOf(error, { signal: AbortSignal.abort(error), headersSent: false })).to.equal(
      'unavailable',
    );
  });
});
