import { readFile } from 'node:fs';
import { expect } from 'chai';
import { round } from '../../../../server/concurrency/event-loop.ts';
import { Pacer } from '../../../../server/concurrency/pacer.ts';

describe('a pacer', () => {
  it('lets in what has come meanwhile, also where work began while something came in', async () => {
    const { promise, resolve } = Promise.withResolvers<readonly [number, number]>();
    readFile(import.meta.filename, () => {
      const pacer = new Pacer(0);
      const before = round();
      void pacer.breathe().then(() => resolve([before, round()]));
    });
    const [before, after] = await promise;
    expect(after).to.be.above(before);
  });

  it('begins a new slice with each breath', async () => {
    let now = 0;
    const pacer = new Pacer(50, () => now);
    now = 49;
    expect(pacer.spent).to.equal(false);
    now = 50;
    expect(pacer.spent).to.equal(true);
    await pacer.breathe();
    now = 99;
    expect(pacer.spent).to.equal(false);
  });
});
