import { expect } from 'chai';
import { assert, property, string } from 'fast-check';
import {
  isOneOf,
  quoted,
  since,
  within,
} from '../../../../../../../server/logging/backends/victorialogs/selection/logsql.ts';

/** What Go's strconv.Unquote takes between double quotes, as far as JSON writes it. */
const GO_STRING = /^"(?:[^"\\\n]|\\(?:[bfnrt"\\]|u(?!d[89a-f])[0-9a-f]{4}))*"$/;

describe('LogsQL', () => {
  it('takes any text as one token that says just that', () => {
    assert(
      property(string({ unit: 'binary', maxLength: 40 }), (text) => {
        expect(quoted(text)).to.match(GO_STRING);
        expect(JSON.parse(quoted(text))).to.equal(text);
      }),
    );
  });

  it('takes half a character as the one that stands for what cannot be read', () => {
    expect(quoted('a\ud800"')).to.equal('"a\ufffd\\""');
  });

  it('never takes a star among values for everything', () => {
    expect(isOneOf('f', ['*'])).to.equal('"f":="*"');
    expect(isOneOf('f', ['*', 'a'])).to.equal('"f":in("*","a")');
  });

  it('ends times where the store’s own end', () => {
    const range = { start: '2026-01-01T00:00:00.000000001Z', end: '2286-11-20T17:46:40.000000000Z' };
    expect(within(range)).to.equal('_time:[2026-01-01T00:00:00.000000001Z,2262-04-11T23:47:16.854775807Z)');
    expect(since(range.start)).to.equal('_time:>=2026-01-01T00:00:00.000000001Z');
  });
});
