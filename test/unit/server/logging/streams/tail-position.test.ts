// Tests of the position of a live tail, for resumption after a disconnect.
import { expect } from 'chai';
import { instantOf } from '../../../../../server/logging/store/instant.ts';
import { resumedFrom, TailPosition } from '../../../../../server/logging/streams/tail-position.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const MINUTE = 60_000;
const OVERLAP_MS = 15_000;

/** A tail from `start` on with a manual clock, in minutes after noon. */
function tail(start: number) {
  let passed = 0;
  let jumped = 0;
  const now = (): number => NOON + passed + jumped;
  const clocks = { now, monotonic: () => passed };
  const position = new TailPosition(instantOf(NOON + start * MINUTE), OVERLAP_MS, clocks);
  const minutes = (id: string) =>
    (Date.parse(resumedFrom({ 'last-event-id': id }, OVERLAP_MS, now()) ?? '') - NOON) / MINUTE;
  return {
    position,
    wait: (minutes: number) => (passed += minutes * MINUTE),
    /** Changes the wall clock. */
    jump: (minutes: number) => (jumped += minutes * MINUTE),
    /** Where an EventSource resumes. */
    resumed: () => minutes(position.id),
    /** Where it resumes after a line of that time. */
    lineAt: (time: string) => minutes(position.ids()({ time })),
    advanced: () => {
      const id = position.advance();
      return id === undefined ? undefined : minutes(id);
    },
  };
}
const record = (time: string) => ({ time, log: '', namespace: '', pod: '', container: '' });

describe('TailPosition', () => {
  it('resumes before the current time if the id is in the future', () => {
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

  it('advances by the monotonic clock, not by the wall clock', () => {
    const { wait, jump, advanced } = tail(0);
    wait(20);
    expect(advanced()).to.equal(10);
    jump(90);
    expect(advanced()).to.equal(20);
    expect(advanced()).to.equal(undefined);
    jump(-90);
    wait(20);
    expect(advanced()).to.equal(30);
  });

  it('continues from the lines that were written', () => {
    const { position, wait, advanced, resumed } = tail(-60);
    position.written([record('2026-11-20T11:10:00.000000000Z'), record('2026-11-20T11:20:15.000000009Z')]);
    expect(resumed()).to.equal(-40);
    wait(3);
    expect(advanced()).to.equal(-37);
  });

  it('continues from the current time after a line of a clock that is ahead', () => {
    const { position, wait, resumed, advanced } = tail(-60);
    position.written([record('2026-11-20T23:00:00.000000000Z')]);
    expect(resumed()).to.equal(-15 / 60);
    wait(12);
    expect(advanced()).to.be.closeTo(2, 0.3);
  });

  it('is never before its beginning', () => {
    const { position, wait, resumed, lineAt } = tail(-1);
    expect(lineAt('2026-11-20T11:59:00.000000000Z')).to.equal(-1);
    expect(lineAt('2026-11-20T11:59:10.500000000Z')).to.equal(-1);
    expect(lineAt('2026-11-20T11:59:45.000000000Z')).to.equal(-0.5);
    position.written([record('2026-11-20T11:59:00.000000000Z')]);
    expect(resumed()).to.equal(-1);
    wait(1);
    expect(lineAt('2026-11-20T12:00:30.000000000Z')).to.equal(0.25);
  });
});
