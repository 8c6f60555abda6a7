// Tests of TimeSlicer, which lets long work yield to the event loop.
import { readFile } from 'node:fs';
import { expect } from 'chai';
import { TimeSlicer } from '../../../../server/concurrency/time-slicer.ts';
import { rejection } from '../../../support/rejection.ts';

/** Runs `work` in an I/O callback of the event loop. HTTP request handlers run in I/O callbacks too. */
function asItComesIn<Result>(work: () => Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    readFile(import.meta.filename, () => {
      work().then(resolve, reject);
    });
  });
}

let now = 0;

/** A time slicer with a manual clock. */
function turnsOf(sliceMs: number): TimeSlicer {
  return new TimeSlicer(sliceMs, () => now);
}

function spend(ms: number): void {
  now += ms;
}

describe('TimeSlicer', () => {
  it('lets other events run between the steps of many tasks', async () => {
    // With a slice of 0 ms, every step uses up its slice.
    const turns = new TimeSlicer(0).of({});
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

describe('the time slices of requests', () => {
  const task = (caller: string, signal = new AbortController().signal) => ({ caller, signal });

  it('go to the callers in turn, however many tasks each of them has', async () => {
    const slicer = new TimeSlicer(0);
    const order: string[] = [];
    const work = async (caller: string): Promise<void> => {
      const slices = slicer.of(task(caller));
      for (let i = 0; i < 3; i++) {
        await slices.next();
        order.push(caller);
      }
    };
    await Promise.all([...Array.from({ length: 50 }, () => work('many')), work('one')]);
    expect(order.lastIndexOf('one')).to.be.below(8);
    expect(order).to.have.length(153);
  });

  it('end with the request', async () => {
    const slicer = new TimeSlicer(0);
    const end = new AbortController();
    const slices = slicer.of(task('a', end.signal));
    const first = slices.next();
    const waiting = rejection(slices.next());
    end.abort(new Error('gone'));
    await first;
    expect(await waiting).to.have.property('message', 'gone');
    expect(await rejection(slices.next())).to.have.property('message', 'gone');
    await slicer.of({}).next();
  });
});

describe('a time slice', () => {
  it('is used up by work, and starts again after other events', async () => {
    const turns = turnsOf(50);
    await turns.of({}).next();
    expect(turns.spent).to.equal(false);
    spend(50);
    expect(turns.spent).to.equal(true);
    await turns.of({}).next();
    expect(turns.spent).to.equal(false);
  });

  it('continues within one round of the event loop', () =>
    asItComesIn(async () => {
      const turns = turnsOf(50);
      expect(turns.spent).to.equal(false);
      spend(50);
      await new Promise((resolve) => setImmediate(resolve));
      expect(turns.spent).to.equal(true);
    }));
});
