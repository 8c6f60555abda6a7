import { expect } from 'chai';
import type { LogSource } from '../../../../../../../server/logging/backends/kubernetes/pods/log-source.ts';
import {
  missingBefore,
  needsFirstLine,
} from '../../../../../../../server/logging/backends/kubernetes/reading/retention.ts';
import { at } from '../instants.ts';
import { logSource } from '../log-source.ts';

const begin = at(3600).time;
/** `startedAt`: in seconds of the day. */
const started = (second: number | undefined, predecessors = false): LogSource =>
  logSource('a', {
    run: { id: 'x', startedAt: second === undefined ? undefined : Date.parse(at(second).time) },
    predecessors,
  });

describe('what a kubelet has thrown away of a log', () => {
  it('is nothing where the first line comes soon after the beginning, or after the start', () => {
    expect(missingBefore(started(0), begin, at(3601).time)).to.equal(undefined);
    expect(missingBefore(started(4000), begin, at(4060).time)).to.equal(undefined);
    expect(missingBefore(started(0), begin, undefined)).to.equal(undefined);
    expect(missingBefore(started(undefined), begin, at(7200).time)).to.equal(undefined);
  });

  it('is what stood before a first line that comes later', () => {
    expect(missingBefore(started(0), begin, at(3602).time)).to.equal(at(3602).time);
    expect(missingBefore(started(4000), begin, at(4061).time)).to.equal(at(4061).time);
  });

  it('is the log of runs before one that started behind the beginning', () => {
    expect(missingBefore(started(4000, true), begin, at(4001).time)).to.equal(at(4000).time);
    expect(missingBefore(started(4000, true), begin, undefined)).to.equal(at(4000).time);
    expect(missingBefore(started(3600, true), begin, at(3600).time)).to.equal(undefined);
  });

  it('is only to be told from the very first line where the lines asked for begin late, or there are none', () => {
    expect(needsFirstLine(started(0), begin, at(3601).time)).to.equal(false);
    expect(needsFirstLine(started(0), begin, at(3602).time)).to.equal(true);
    expect(needsFirstLine(started(0), begin, undefined)).to.equal(true);
    expect(needsFirstLine(started(3600), begin, undefined)).to.equal(false);
    expect(needsFirstLine(started(undefined), begin, undefined)).to.equal(false);
  });
});
