// Tests of outcomeOf, which classifies failed log queries for metrics.
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

describe('outcomeOf', () => {
  for (const [what, error, headersSent, outcome] of [
    ['an invalid query', newBadRequest('invalid'), false, 'refused'],
    ['too many concurrent queries', newTooManyRequests('too many', 1), false, 'limited'],
    ['an unavailable store', newServiceUnavailable('down', 1), false, 'unavailable'],
    ['a slow store', newStoreTimeout('memory'), false, 'unavailable'],
    ['an internal error', new Error('internal'), false, 'error'],
    ['a live tail with changed permissions', newExpired('changed'), true, 'expired'],
    ['a live tail beyond its limits', newNotSupported('m', 'follow', 'less'), true, 'limited'],
    ['an export with a failing store', newServiceUnavailable('down', 1), true, 'unavailable'],
  ] as const) {
    it(`is "${outcome}" for ${what}`, () => {
      expect(outcomeOf(error, { signal: live, headersSent })).to.equal(outcome);
    });
  }

  it('is "canceled" when the caller disconnects', () => {
    expect(outcomeOf(new Error('gone'), { signal: AbortSignal.abort(), headersSent: true })).to.equal(
      'canceled',
    );
  });

  it('is "canceled" when the caller disconnects before the response, whatever the store reports', () => {
    for (const error of [newStoreTimeout('memory'), newServiceUnavailable('down', 1)]) {
      expect(outcomeOf(error, { signal: AbortSignal.abort(), headersSent: false })).to.equal('canceled');
    }
  });

  it('is the error that ended a response, which closes the connection too', () => {
    const error = newServiceUnavailable('down', 1);
    expect(outcomeOf(error, { signal: AbortSignal.abort(), headersSent: true })).to.equal('unavailable');
  });

  it('is the outcome of the error that aborted the request', () => {
    const error = newTimeout('too long', 1);
    expect(outcomeOf(error, { signal: AbortSignal.abort(error), headersSent: false })).to.equal(
      'unavailable',
    );
  });
});
