// Tests of the polling of conditions.
import { expect } from 'chai';
import { until } from '../../../../hack/system/until.ts';
import { rejection } from '../../../support/rejection.ts';

describe('a polled condition', () => {
  const { signal } = new AbortController();

  it('may fail and be false before it is true', async () => {
    const results = [() => Promise.reject(new Error('not yet')), async () => false, async () => true];
    await until(() => results.shift()?.() ?? expect.fail('checked again'), { signal, pollMs: 1 });
    expect(results).to.have.length(0);
  });

  it('that stays false is an error with the last failure as its cause', async () => {
    const cause = new Error('503');
    const error = await rejection(until(() => Promise.reject(cause), { signal, timeoutMs: 1, pollMs: 1 }));
    expect(error.message).to.equal('a condition was not met after 0.001 s');
    expect(error.cause).to.equal(cause);
  });

  it('is checked no more after an abort, and the reason is the error', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const condition = async (): Promise<boolean> => {
      stop.abort(reason);
      return false;
    };
    expect(await rejection(until(condition, { signal: stop.signal }))).to.equal(reason);
  });
});
