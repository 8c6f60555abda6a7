import { readFile } from 'node:fs';
import { expect } from 'chai';
import { round } from '../../../../server/concurrency/event-loop.ts';
import { Turns } from '../../../../server/concurrency/turns.ts';

/** Runs `work` while the event loop handles what came in. */
function asItComesIn<Result>(work: () => Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    readFile(import.meta.filename, () => {
      work().then(resolve, reject);
    });
  });
}

let now = 0;

/** Turns of which only what a test spends takes time. */
function turnsOf(sliceMs: number): Turns {
  return new Turns(sliceMs, () => now);
}

function spend(ms: number): void {
  now += ms;
}

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

  it('come after what has come in meanwhile, also for who waits while something is handled', async () => {
    const [before, after] = await asItComesIn(async () => {
      const turns = new Turns(0);
      const began = round();
      await turns.next();
      return [began, round()] as const;
    });
    expect(after).to.be.above(before);
  });

  it('count what a reader does behind many promises before the next reader', async () => {
    const turns = turnsOf(1);
    const rounds = await Promise.all(
      [1, 2, 3].map(async () => {
        await turns.next();
        for (let n = 0; n < 20; n++) await Promise.resolve();
        const own = round();
        spend(1);
        return own;
      }),
    );
    expect(new Set(rounds).size).to.equal(3);
  });
});

describe('a slice of time', () => {
  it('is used up by work, and a new one begins when everything else has run', async () => {
    const turns = turnsOf(50);
    expect(turns.spent).to.equal(false);
    spend(50);
    expect(turns.spent).to.equal(true);
    await turns.next();
    expect(turns.spent).to.equal(false);
  });

  it('is the same one for as long as nothing else can have come in', () =>
    asItComesIn(async () => {
      const turns = turnsOf(50);
      expect(turns.spent).to.equal(false);
      spend(50);
      await new Promise((resolve) => setImmediate(resolve));
      expect(turns.spent).to.equal(true);
    }));

  it('begins when what came in has run, which may have taken long', () =>
    asItComesIn(async () => {
      const turns = turnsOf(1_000);
      const first = round();
      await turns.next();
      expect(round()).to.be.above(first);
    }));

  it('is shared by the pieces of work that it has time for', () =>
    asItComesIn(async () => {
      const turns = turnsOf(1_000);
      await turns.next();
      const own = round();
      await turns.next();
      expect(round()).to.equal(own);
    }));

  it('is not begun by a piece of work when another has used a part of it', () =>
    asItComesIn(async () => {
      const turns = turnsOf(1_000);
      await turns.next();
      const own = round();
      spend(300);
      expect(turns.spent).to.equal(false);
      await turns.next();
      expect(round()).to.be.above(own);
    }));
});
