import { expect } from 'chai';
import { Turns } from '../../../../server/concurrency/turns.ts';

describe('turns', () => {
  it('let everything else run between the pieces of work of many readers', async () => {
    // Every piece of work uses up its slice.
    const turns = new Turns(0);
    const happened: string[] = [];
    let working = true;
    const others = (): void => {
      happened.push('other');
      if (working) setImmediate(others);
    };
    setImmediate(others);
    await Promise.all(
      Array.from({ length: 20 }, async (_, reader) => {
        await turns.next();
        happened.push(`reader ${reader}`);
      }),
    );
    working = false;
    expect(happened.filter((what) => what === 'other').length).to.be.at.least(19);
    expect(happened.filter((what) => what !== 'other')).to.deep.equal(
      Array.from({ length: 20 }, (_, reader) => `reader ${reader}`),
    );
  });
});

describe('a slice of time', () => {
  it('is used up by work, and a new one begins when everything else has run', async () => {
    const turns = new Turns(0.2);
    expect(turns.spent).to.equal(false);
    for (const end = performance.now() + 0.3; performance.now() < end; );
    expect(turns.spent).to.equal(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(turns.spent).to.equal(false);
  });
});
