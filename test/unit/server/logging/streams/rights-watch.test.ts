import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Selection } from '../../../../../server/logging/log-store.ts';
import { watchRights } from '../../../../../server/logging/streams/rights-watch.ts';

describe('the watch of what the caller of a stream may see', () => {
  it('asks no second time while the cluster has not answered the first', async () => {
    const answer = Promise.withResolvers<Selection | undefined>();
    const again = Promise.withResolvers<void>();
    let looks = 0;
    const currentSelection = (): Promise<Selection | undefined> => {
      looks += 1;
      if (looks === 2) again.resolve();
      return answer.promise;
    };
    using _watch = watchRights(
      { selection: undefined, currentSelection },
      { everyMs: 1, goesOn: () => true, patience: 0, over: new AbortController() },
    );
    for (let waits = 0; waits < 10; waits++) await delay(2);
    expect(looks).to.equal(1);
    answer.resolve(undefined);
    await again.promise;
  });
});
