import { expect } from 'chai';
import {
  instantIn,
  instantOfNanoseconds,
  RecordReader,
} from '../../../../../../server/logging/backends/opensearch/record-reader.ts';
import { FIELDS } from '../../../../../support/logging/opensearch-store.ts';

describe('the time of a record', () => {
  for (const [written, instant] of [
    ['2026-01-15T10:00:00.123456789Z', '2026-01-15T10:00:00.123456789Z'],
    ['2026-01-15T10:00:00Z', '2026-01-15T10:00:00.000000000Z'],
    ['2026-01-15T10:00:00.1Z', '2026-01-15T10:00:00.100000000Z'],
    ['2026-01-15T10:00:00.123456+02:00', '2026-01-15T08:00:00.123456000Z'],
    ['2026-01-15T10:00:00.5-0330', '2026-01-15T13:30:00.500000000Z'],
    ['2026-01-15 10:00:00.000000001Z', '2026-01-15T10:00:00.000000001Z'],
    // Only the mapping can tell the unit.
    [1_768_471_200_123, undefined],
    ['1768471200123', undefined],
    ['yesterday', undefined],
    [undefined, undefined],
    [{}, undefined],
    ['2026-13-45T10:00:00Z', undefined],
  ] as const) {
    it(`written as ${JSON.stringify(written)} is ${instant ?? 'read from the sort key'}`, () => {
      expect(instantIn(written)).to.equal(instant);
    });
  }

  it('keeps all digits of a sort key', () => {
    expect(instantOfNanoseconds(1_768_471_200_123_456_789n)).to.equal('2026-01-15T10:00:00.123456789Z');
    expect(instantOfNanoseconds(1_768_471_200_000_000_001n)).to.equal('2026-01-15T10:00:00.000000001Z');
  });
});

describe('a record', () => {
  const read = (source: object) =>
    new RecordReader(FIELDS).read({ index: 'i', id: 'a', source: { ...source }, time: 0n, sequence: 0 });

  it('is read from nested objects and from names with dots', () => {
    const nested = { log: 'line\n', kubernetes: { namespace_name: 'a', pod_name: 'b', container_name: 'c' } };
    const dotted = {
      log: ['line'],
      'kubernetes.namespace_name': 'a',
      kubernetes: { pod_name: 'b' },
      'kubernetes.container_name': 'c',
    };
    const expected = {
      time: '1970-01-01T00:00:00.000000000Z',
      log: 'line',
      namespace: 'a',
      pod: 'b',
      container: 'c',
    };
    expect(read(nested)).to.deep.equal(expected);
    expect(read(dotted)).to.deep.equal(expected);
  });

  it('has each text of a list in its line, and empty names if it has none', () => {
    expect(read({ log: ['a', null, 'b'] })).to.include({ log: 'a\nb', namespace: '', pod: '' });
  });
});
