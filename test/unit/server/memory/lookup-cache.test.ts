// Tests of the cache for results from kube-apiserver.
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { LookupCache } from '../../../../server/memory/lookup-cache.ts';

describe('LookupCache', () => {
  it('does not cache a TTL of 0, and holds no reference to callers', async () => {
    const cache = new LookupCache<string>({
      size: 10,
      ttlMs: (answer) => (answer === 'no' ? 0 : 1000),
      maxPending: 4,
      signal: new AbortController().signal,
    });
    const { signal } = new AbortController();
    expect(await cache.get('a', async () => 'no', { signal })).to.equal('no');
    expect(cache.size).to.equal(0);
    expect(await cache.get('a', async () => 'yes', { signal })).to.equal('yes');
    expect(cache.size).to.equal(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('aborts lookups with the server, not with the caller', async () => {
    const end = new AbortController();
    const cache = new LookupCache<string>({ size: 1, ttlMs: () => 0, maxPending: 1, signal: end.signal });
    const requested = Promise.withResolvers<AbortSignal>();
    const caller = new AbortController();
    const answer = cache.get(
      'a',
      (signal) => {
        requested.resolve(signal);
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
      },
      caller,
    );
    const signal = await requested.promise;
    caller.abort(new Error('the caller left'));
    const error = await Promise.resolve(answer).catch((caught: unknown) => caught);
    expect(error).to.have.property('message', 'the caller left');
    expect(signal.aborted).to.equal(false);
    // An unhandled rejection of the lookup, for which no caller waits, would fail this test in its hooks.
    end.abort(new Error('the server stops'));
    expect(signal.aborted).to.equal(true);
  });

  describe('with a limit of pending lookups', () => {
    const scope = { signal: new AbortController().signal };
    const never = (): Promise<string> => new Promise(() => undefined);
    const refusalOf = (ask: () => unknown): unknown => {
      try {
        ask();
        return undefined;
      } catch (error) {
        return error;
      }
    };

    function bounded(maxPendingOfOne?: number): LookupCache<string> {
      return new LookupCache<string>({
        size: 10,
        ttlMs: () => 1000,
        maxPending: 4,
        ...(maxPendingOfOne === undefined ? {} : { maxPendingOfOne }),
        signal: scope.signal,
      });
    }

    it('counts lookups without a key, which are neither cached nor shared', async () => {
      const cache = bounded();
      let requested = 0;
      const ask = (): Promise<string> => Promise.resolve(`answer ${++requested}`);
      expect(await cache.get(undefined, ask, scope)).to.equal('answer 1');
      expect(await cache.get(undefined, ask, scope)).to.equal('answer 2');
      for (let i = 0; i < 4; i++) void cache.get(undefined, never, scope);
      expect(refusalOf(() => cache.get(undefined, never, scope))).to.have.property('code', 429);
    });

    it('leaves capacity for others when one caller reaches its quota', async () => {
      const cache = bounded(2);
      const broken = (): never => {
        throw new Error('broken');
      };
      for (let i = 0; i < 5; i++) {
        expect(refusalOf(() => cache.get('a', broken, scope, 'eve'))).to.have.property('message', 'broken');
      }
      const { promise, resolve } = Promise.withResolvers<string>();
      const first = cache.get('a', () => promise, scope, 'eve');
      void cache.get('b', never, scope, 'eve');
      expect(refusalOf(() => cache.get('c', never, scope, 'eve'))).to.have.property('code', 429);
      void cache.get('d', never, scope, 'bob');
      resolve('yes');
      expect(await first).to.equal('yes');
      void cache.get('c', never, scope, 'eve');
      expect(refusalOf(() => cache.get('e', never, scope, 'eve'))).to.have.property('code', 429);
      void cache.get('f', never, scope, 'bob');
      expect(
        refusalOf(() => cache.get('g', never, scope, 'ann')),
        'in total',
      ).to.have.property('code', 429);
    });
  });
});
