// Tests of outcomeOf, which classifies failed log queries for metrics.
import { expect } from 'chai';
import {
  newBadRequest,
  newExpired,
  newServiceUnavailable,
  newTimeout,
  newTooManyRequests,
} from '../../../../../apis/meta/v1/errors.ts';
import { outcomeOf } from '../../../../../server/logging/store/log-metrics.ts';
import { newNotSupported, newStoreTimeout } from '../../../../../server/logging/store/store-errors.ts';

const live = new AbortController().signal;
const gone = AbortSignal.abort();
const late = newTimeout('too long', 1);
const down = newServiceUnavailable('down', 1);

describe('outcomeOf', () => {
  for (const [what, error, signal, headersSent, outcome] of [
    ['an invalid query', newBadRequest('invalid'), live, false, 'refused'],
    ['too many concurrent queries', newTooManyRequests('too many', 1), live, false, 'limited'],
    ['an unavailable store', down, live, false, 'unavailable'],
    ['a slow store', newStoreTimeout('memory'), live, false, 'unavailable'],
    ['an internal error', new Error('internal'), live, false, 'error'],
    ['a live tail with changed permissions', newExpired('changed'), live, true, 'expired'],
    ['a live tail beyond its limits', newNotSupported('m', 'follow', 'less'), live, true, 'limited'],
    ['an export with a failing store', down, live, true, 'unavailable'],
    ['a caller that disconnects', new Error('gone'), gone, true, 'canceled'],
    ['a caller that disconnects while the store is slow', newStoreTimeout('memory'), gone, false, 'canceled'],
    ['a caller that disconnects while the store is unavailable', down, gone, false, 'canceled'],
    ['an error that ends a response, which closes the connection too', down, gone, true, 'unavailable'],
    ['the error that aborts the request', late, AbortSignal.abort(late), false, 'unavailable'],
  ] as const) {
    it(`is "${outcome}" for ${what}`, () => {
      expect(outcomeOf(error, { signal, headersSent })).to.equal(outcome);
    });
  }
});
