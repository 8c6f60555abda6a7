// Tests of the parser of timestamps in the pod log API.
import { expect } from 'chai';
import {
  parseLineHead,
  shifted,
  wholeSecond,
} from '../../../../../../server/logging/backends/kubernetes/kubelet-time.ts';

describe('the timestamp of a line', () => {
  for (const [written, time] of [
    ['2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.123456789Z'],
    ['2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00.500000000Z'],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000000000Z'],
    ['2026-01-01T02:00:00.000000001+02:00', '2026-01-01T00:00:00.000000001Z'],
    ['2025-12-31T20:30:00.12-03:30', '2026-01-01T00:00:00.120000000Z'],
  ] as const) {
    it(`is parsed from ${written}`, () => {
      const block = `before\n${written} the text\nbehind`;
      const from = block.indexOf(written);
      const head = parseLineHead(block, from);
      expect(head?.time).to.equal(time);
      expect(block.slice(head?.textStart)).to.equal('the text\nbehind');
    });
  }

  for (const message of [
    'failed to try resolving symlinks in path "/var/log/x"',
    '2026-01-01T00:00:00.123456789Zwithout a space',
    '2026-01-01T00:00:00.123456789Z',
    'unable to find the log of podZ on this node',
    '2026-13-01T00:00:00.5Z no such month',
    '',
  ]) {
    it(`is missing in "${message}"`, () => {
      expect(parseLineHead(message, 0)).to.equal(undefined);
    });
  }

  it('is rounded down to the second, and shifted by seconds, not before the epoch', () => {
    expect(wholeSecond('2026-01-01T00:00:09.999999999Z')).to.equal('2026-01-01T00:00:09Z');
    expect(shifted('2026-01-01T00:00:09.999999999Z', 2)).to.equal('2026-01-01T00:00:11.999999999Z');
    expect(shifted('2026-01-01T00:00:01.000000001Z', -2)).to.equal('2025-12-31T23:59:59.000000001Z');
    expect(shifted('1970-01-01T00:00:01.500000000Z', -2)).to.equal('1970-01-01T00:00:00.500000000Z');
  });
});
