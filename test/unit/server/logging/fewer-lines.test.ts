import { expect } from 'chai';
import { fewerWhenTooMuch } from '../../../../server/logging/fewer-lines.ts';
import { newPageTooLong } from '../../../../server/logging/page-limit.ts';
import { isStoreExhausted, newStoreExhausted } from '../../../../server/logging/store-errors.ts';

const exhausted = (): Error => newStoreExhausted('opensearch', new Error('no memory'));

describe('lines that are too much at once', () => {
  const { signal } = new AbortController();
  const waits: number[] = [];
  const wait = async (ms: number): Promise<void> => void waits.push(ms);

  beforeEach(() => {
    waits.length = 0;
  });

  it('are asked for anew in fewer, at once where they are too long', async () => {
    const asked: number[] = [];
    const found = await fewerWhenTooMuch(
      1_000,
      async (size) => {
        asked.push(size);
        if (size > 20) throw newPageTooLong();
        return 'these';
      },
      signal,
      wait,
    );
    expect(found).to.deep.equal({ answer: 'these', asked: 16 });
    expect(asked).to.deep.equal([1_000, 250, 63, 16]);
    expect(waits).to.deep.equal([]);
  });

  it('are so after a pause where the store is short of memory, which may be garbage', async () => {
    let times = 0;
    const found = await fewerWhenTooMuch(
      100,
      async () => {
        if (++times < 3) throw exhausted();
        return 'these';
      },
      signal,
      wait,
    );
    expect(found).to.deep.equal({ answer: 'these', asked: 7 });
    expect(waits).to.deep.equal([200, 400]);
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
      wait,
    ).catch((caught: unknown) => caught);
    expect(isStoreExhausted(error)).to.equal(true);
    expect(error).to.include({ code: 503 });
    expect(asked).to.deep.equal([3, 1]);
  });

  it('are not waited for any longer once the caller has gone', async () => {
    const leaving = new AbortController();
    let times = 0;
    const error = await fewerWhenTooMuch(
      1_000,
      async () => {
        leaving.signal.throwIfAborted();
        times++;
        setImmediate(() => leaving.abort(new Error('gone')));
        throw exhausted();
      },
      leaving.signal,
    ).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(Error).and.to.include({ message: 'gone' });
    expect(times).to.equal(1);
  });
});
