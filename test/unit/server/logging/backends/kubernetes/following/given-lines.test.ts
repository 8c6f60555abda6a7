import { expect } from 'chai';
import * as fc from 'fast-check';
import { GivenLines } from '../../../../../../../server/logging/backends/kubernetes/following/given-lines.ts';

const timeOf = (tick: number): string =>
  `2026-01-01T00:00:${String(Math.floor(tick / 4)).padStart(2, '0')}.00000000${tick % 4}Z`;

describe('the lines that were given', () => {
  it('are not given again and none is left out, wherever the log is opened anew', () => {
    const ticks = fc.array(fc.nat(80), { maxLength: 60 }).map((drawn) => drawn.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(ticks, fc.array(fc.nat(60), { maxLength: 6 }), (log, cuts) => {
        const given = new GivenLines();
        const seen: string[] = [];
        const read = (to: number): void => {
          given.reopened();
          const since = given.since ?? '';
          for (const tick of log.slice(0, to)) {
            const time = timeOf(tick);
            if (time >= since && given.isNew(time)) seen.push(time);
          }
        };
        for (const cut of cuts.toSorted((a, b) => a - b)) read(cut);
        read(log.length);
        expect(seen).to.deep.equal(log.map(timeOf));
      }),
    );
  });

  it('are told apart from those of a new file that begins within the second', () => {
    const given = new GivenLines();
    for (const tick of [0, 1, 1]) given.isNew(timeOf(tick));
    given.reopened();
    expect([1, 2, 3].map((tick) => given.isNew(timeOf(tick)))).to.deep.equal([false, true, true]);
  });

  it('are those of before in a copy, whatever is given afterwards', () => {
    const given = new GivenLines();
    given.isNew(timeOf(0));
    const before = given.copy();
    for (const tick of [1, 1, 2]) given.isNew(timeOf(tick));
    before.reopened();
    expect([0, 1, 1, 2].map((tick) => before.isNew(timeOf(tick)))).to.deep.equal([false, true, true, true]);
    given.reopened();
    expect([0, 1, 1, 2, 3].map((tick) => given.isNew(timeOf(tick)))).to.deep.equal([
      false,
      false,
      false,
      false,
      true,
    ]);
  });

  it('may be very many in one second', () => {
    const given = new GivenLines();
    const times = Array.from(
      { length: 50_000 },
      (_, n) => `2026-01-01T00:00:00.${String(n).padStart(9, '0')}Z`,
    );
    expect(times.every((time) => given.isNew(time))).to.equal(true);
    given.reopened();
    expect(times.some((time) => given.isNew(time))).to.equal(false);
    expect(given.isNew('2026-01-01T00:00:00.000050000Z')).to.equal(true);
  });
});
