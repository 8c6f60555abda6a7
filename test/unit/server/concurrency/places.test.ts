import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { type Place, Places } from '../../../../server/concurrency/places.ts';

const REFUSED = new Error('refused');
const WITHDRAWN = new Error('withdrawn');
const never = new AbortController().signal;

describe('places', () => {
  let places: Places;
  beforeEach(() => {
    places = new Places(4, { refusal: () => REFUSED, withdrawal: () => WITHDRAWN });
  });

  const taken = (...callers: string[]): Promise<Place[]> =>
    Promise.all(callers.map((caller) => places.take(never, caller)));
  const failure = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );
  const withdrawn = (held: readonly Place[]): boolean[] => held.map((place) => place.withdrawn.aborted);

  it('are all for one caller while nobody else comes', async () => {
    const held = await taken('a', 'a', 'a', 'a');
    expect(await failure(places.take(never, 'a'))).to.equal(REFUSED);
    expect(withdrawn(held)).to.deep.equal([false, false, false, false]);
    held[0]?.[Symbol.dispose]();
    held[0]?.[Symbol.dispose]();
    await taken('a');
    expect(await failure(places.take(never, 'a'))).to.equal(REFUSED);
  });

  it('are withdrawn, the last one first, from who has most for one who has fewer', async () => {
    const held = await taken('b', 'a', 'a', 'a');
    const coming = places.take(never, 'c');
    expect(withdrawn(held)).to.deep.equal([false, false, false, true]);
    expect(held[3]?.withdrawn.reason).to.equal(WITHDRAWN);
    held[3]?.[Symbol.dispose]();
    expect((await coming).withdrawn.aborted).to.equal(false);
  });

  it('are no more than there are: who comes waits until the one that was withdrawn is given back', async () => {
    const held = await taken('a', 'a', 'a', 'a');
    let isIn = false;
    const coming = places.take(never, 'b').then(() => {
      isIn = true;
    });
    await Promise.resolve();
    expect([isIn, withdrawn(held)]).to.deep.equal([false, [false, false, false, true]]);
    held[3]?.[Symbol.dispose]();
    await coming;
  });

  it('stay where they are once callers have the same number, or one less', async () => {
    const held = await taken('a', 'a', 'b', 'c');
    for (const caller of ['a', 'b', 'c']) expect(await failure(places.take(never, caller))).to.equal(REFUSED);
    const coming = places.take(never, 'd');
    held[1]?.[Symbol.dispose]();
    await coming;
    expect(await failure(places.take(never, 'e'))).to.equal(REFUSED);
    expect(withdrawn(held)).to.deep.equal([false, true, false, false]);
  });

  it('are not kept for who leaves while he waits, or comes too late', async () => {
    const held = await taken('a', 'a', 'a', 'a');
    const gone = new AbortController();
    const coming = failure(places.take(gone.signal, 'b'));
    gone.abort(new Error('gone'));
    expect(await coming).to.include({ message: 'gone' });
    expect(await failure(places.take(gone.signal, 'b'))).to.include({ message: 'gone' });
    held[3]?.[Symbol.dispose]();
    await taken('c');
    expect(withdrawn(held.slice(0, 3))).to.deep.equal([false, false, false]);
  });

  it('leave nothing behind at the signal of who had one', async () => {
    const { signal } = new AbortController();
    const held = await taken('a', 'a', 'a', 'a');
    const coming = places.take(signal, 'b');
    held[3]?.[Symbol.dispose]();
    (await coming)[Symbol.dispose]();
    (await places.take(signal, 'b'))[Symbol.dispose]();
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });
});
