// Tests of the cache for results from kube-apiserver.
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { Seats } from '../../../../server/admission/seats.ts';
import type { CallContext } from '../../../../server/cluster/call-context.ts';
import { LookupCache } from '../../../../server/memory/lookup-cache.ts';
import { rejection } from '../../../support/rejection.ts';
import { fewSeats } from '../../../support/request-pools.ts';

describe('LookupCache', () => {
  it('does not cache a TTL of 0, and holds no reference to callers', async () => {
    const cache = new LookupCache<string>({
      size: 10,
      ttlMs: (answer) => (answer === 'no' ? 0 : 1000),
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
    const cache = new LookupCache<string>({ size: 1, ttlMs: () => 0, signal: end.signal });
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

    const bounded = (seats: Seats): LookupCache<string> =>
      new LookupCache<string>({ size: 10, ttlMs: () => 1000, seats, signal: scope.signal });

    it('counts lookups without a key, which are neither cached nor shared', async () => {
      const cache = bounded(fewSeats(4));
      let requested = 0;
      const ask = (): Promise<string> => Promise.resolve(`answer ${++requested}`);
      expect(await cache.get(undefined, ask, scope)).to.equal('answer 1');
      expect(await cache.get(undefined, ask, scope)).to.equal('answer 2');
      for (let i = 0; i < 4; i++) void cache.get(undefined, never, scope);
      expect(refusalOf(() => cache.get(undefined, never, scope))).to.have.property('code', 429);
    });

    it('leaves capacity for others when one caller reaches its share', async () => {
      const cache = bounded(fewSeats(4, 'reserve'));
      const as = (caller: string): CallContext => ({ ...scope, caller });
      const broken = (): never => {
        throw new Error('broken');
      };
      for (let i = 0; i < 5; i++) {
        expect(await rejection(Promise.resolve(cache.get('a', broken, as('eve'))))).to.have.property(
          'message',
          'broken',
        );
      }
      const { promise, resolve } = Promise.withResolvers<string>();
      const first = cache.get('a', () => promise, as('eve'));
      void cache.get('b', never, as('eve'));
      expect(refusalOf(() => cache.get('c', never, as('eve')))).to.have.property('code', 429);
      void cache.get('d', never, as('bob'));
      resolve('yes');
      expect(await first).to.equal('yes');
      void cache.get('c', never, as('ann'));
      void cache.get('e', never, as('max'));
      expect(
        refusalOf(() => cache.get('f', never, as('moe'))),
        'in total',
      ).to.have.property('code', 429);
    });

    it('lets no caller wait for the seat of another one with the same key', async () => {
      const seats = new Seats({ capacity: 4, sharing: 'reserve', refusal: () => new Error('busy') });
      const cache = bounded(seats);
      const as = (caller: string): CallContext => ({ ...scope, caller });
      const { promise, resolve } = Promise.withResolvers<string>();
      for (const key of ['a', 'b']) void cache.get(key, () => promise, as('eve'));
      const waiting = cache.get('c', async () => 'of eve', as('eve'));
      expect(await cache.get('c', async () => 'of bob', as('bob'))).to.equal('of bob');
      resolve('over');
      expect(await waiting, 'cached meanwhile').to.equal('of bob');
    });

    it('lets a lookup wait for its seat, even if the first caller leaves', async () => {
      const seats = new Seats({ capacity: 1, sharing: 'queue', refusal: () => new Error('busy') });
      const cache = bounded(seats);
      const { promise, resolve } = Promise.withResolvers<string>();
      const first = cache.get('a', () => promise, scope);
      const gone = new AbortController();
      const left = rejection(Promise.resolve(cache.get('b', async () => 'b', gone)));
      const stays = cache.get('b', never, scope);
      gone.abort(new Error('the caller left'));
      expect(await left).to.have.property('message', 'the caller left');
      resolve('a');
      expect([await first, await stays]).to.deep.equal(['a', 'b']);
    });
  });
});
