import { expect } from 'chai';
import { fewerWhenTooMuch } from '../../../../../server/logging/answers/fewer-lines.ts';
import {
  isStoreExhausted,
  newPageTooLong,
  newStoreExhausted,
} from '../../../../../server/logging/store-errors.ts';

const exhausted = (): Error => newStoreExhausted('opensearch', new Error('no memory'));

describe('lines that are too much at once', () => {
  const { signal } = new AbortController();

  it('are asked for anew in fewer, at once where they are too long', async () => {
    const begin = performance.now();
    const asked: number[] = [];
    const found = await fewerWhenTooMuch(
      1_000,
      async (size) => {
        asked.push(size);
        if (size > 20) throw newPageTooLong();
        return 'these';
      },
      signal,
    );
    expect(found).to.deep.equal({ answer: 'these', asked: 16 });
    expect(asked).to.deep.equal([1_000, 250, 63, 16]);
    expect(performance.now() - begin).to.be.below(150);
  });

  it('are so after a pause where the store is short of memory, which may be garbage', async () => {
    const at: number[] = [];
    const found = await fewerWhenTooMuch(
      100,
      async () => {
        if (at.push(performance.now()) < 3) throw exhausted();
        return 'these';
      },
      signal,
    );
    expect(found).to.deep.equal({ answer: 'these', asked: 7 });
    const [first = 0, second = 0, third = 0] = at;
    expect(second - first).to.be.above(150);
    expect(third - second).to.be.above(350);
  });

  it('are given up where the store has no memory for a single one', async () => {
    const asked: number[] = [];
    const error = await fewerWhenTooMuch(
      3,
      async (size) => {
        asked.push(size);
        throw exhausted();
      },
      signal,
    ).catch((caught: unknown) => caught);
    expect(isStoreExhausted(error)).to.equal(true);
    expect(error).to.include({ code: 503 });
    expect(asked).to.deep.equal([3, 1]);
  });

  it('are not waited for any longer once the caller has gone', async () => {
    const leaving = new AbortController();
    const begin = performance.now();
    const error = await fewerWhenTooMuch(
      1_000,
      async () => {
        leaving.signal.throwIfAborted();
        setImmediate(() => leaving.abort(new Error('gone')));
        throw exhausted();
      },
      leaving.signal,
    ).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(Error).and.to.include({ message: 'gone' });
    expect(performance.now() - begin).to.be.below(150);
  });
});
