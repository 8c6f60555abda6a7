import { expect } from 'chai';
import { instantOf } from '../../../../../server/logging/instant.ts';
import { resumedFrom, TailPosition } from '../../../../../server/logging/streams/tail-position.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const MINUTE = 60_000;
const OVERLAP_MS = 15_000;

/** A tail from `start` on, by a clock that is moved by hand; minutes behind noon. */
function tail(start: number) {
  let passed = 0;
  let jumped = 0;
  const now = (): number => NOON + passed + jumped;
  const position = new TailPosition(instantOf(NOON + start * MINUTE), OVERLAP_MS, {
    now,
    monotonic: () => passed,
  });
  const minutes = (id: string) =>
    (Date.parse(resumedFrom({ 'last-event-id': id }, OVERLAP_MS, now()) ?? '') - NOON) / MINUTE;
  return {
    position,
    wait: (minutes: number) => (passed += minutes * MINUTE),
    /** The clock of the machine is set anew. */
    jump: (minutes: number) => (jumped += minutes * MINUTE),
    /** Where an EventSource would go on. */
    resumed: () => minutes(position.id),
    /** The same, after a line of that time. */
    lineAt: (time: string) => minutes(position.ids()({ time })),
    moved: () => {
      const id = position.advance();
      return id === undefined ? undefined : minutes(id);
    },
  };
}
const record = (time: string) => ({ time, log: '', namespace: '', pod: '', container: '' });

describe('the position of a live tail', () => {
  it('is at first where it begins, exactly', () => {
    expect(tail(0).resumed()).to.equal(0);
    expect(tail(-90).resumed()).to.equal(-90);
  });

  it('goes on from now where the clock was set back meanwhile, or another replica is behind', () => {
    const { jump, lineAt, resumed } = tail(0);
    jump(60);
    expect(lineAt('2026-11-20T13:00:00.000000000Z')).to.equal(59.75);
    const resumedAt = (minutes: number): string | undefined =>
      resumedFrom({ 'last-event-id': '2026-11-20T13:00:00.000000000Z' }, OVERLAP_MS, NOON + minutes * MINUTE);
    expect(resumedAt(60)).to.equal('2026-11-20T12:59:45.000000000Z');
    expect(resumedAt(59.75)).to.equal('2026-11-20T12:59:45.000000000Z');
    expect(resumedAt(0)).to.equal('2026-11-20T11:59:45.000000000Z');
    jump(-60);
    expect(resumed()).to.equal(0);
  });

  it('moves on while nothing comes, ten minutes behind the clock', () => {
    const { wait, moved, resumed } = tail(0);
    wait(10);
    expect(moved()).to.equal(undefined);
    wait(1);
    expect([moved(), resumed()]).to.deep.equal([1, 1]);
    expect(moved()).to.equal(undefined);
    wait(229);
    expect(moved()).to.equal(230);
  });

  it('moves on through what was there before no faster than it was written', () => {
    const { wait, moved } = tail(-60);
    wait(1);
    expect(moved()).to.equal(-59);
    wait(4);
    expect(moved()).to.equal(-55);
  });

  it('moves on by the time that passes, not by that to which the clock is set', () => {
    const { wait, jump, moved } = tail(0);
    wait(20);
    expect(moved()).to.equal(10);
    jump(90);
    expect(moved()).to.equal(20);
    expect(moved()).to.equal(undefined);
    jump(-90);
    wait(20);
    expect(moved()).to.equal(30);
  });

  it('stays while lines are on their way, and goes on from them', () => {
    const { position, wait, moved, resumed } = tail(-60);
    position.received();
    wait(30);
    expect(moved()).to.equal(undefined);
    position.written([record('2026-11-20T11:10:00.000000000Z'), record('2026-11-20T11:20:15.000000009Z')]);
    expect(resumed()).to.equal(-40);
    wait(3);
    expect(moved()).to.equal(-37);
  });

  it('goes on from the clock where a line was ahead of it', () => {
    const { position, wait, resumed, moved } = tail(-60);
    position.received();
    position.written([record('2026-11-20T23:00:00.000000000Z')]);
    expect(resumed()).to.equal(-15 / 60);
    wait(12);
    expect(moved()).to.be.closeTo(2, 0.3);
  });

  it('is never before its beginning, however early the last line is', () => {
    const { position, wait, resumed, lineAt } = tail(-1);
    expect([
      lineAt('2026-11-20T11:59:00.000000000Z'),
      lineAt('2026-11-20T11:59:10.500000000Z'),
    ]).to.deep.equal([-1, -1]);
    expect(lineAt('2026-11-20T11:59:45.000000000Z')).to.equal(-0.5);
    position.received();
    position.written([record('2026-11-20T11:59:00.000000000Z')]);
    expect(resumed()).to.equal(-1);
    wait(1);
    expect(lineAt('2026-11-20T12:00:30.000000000Z')).to.equal(0.25);
  });

  it('does not go back when a tail breaks at its first line, again and again', () => {
    let start = 0;
    for (let breaks = 0; breaks < 10; breaks++) {
      const { lineAt } = tail(start);
      start = lineAt(instantOf(NOON + start * MINUTE));
    }
    expect(start).to.equal(0);
  });
});
