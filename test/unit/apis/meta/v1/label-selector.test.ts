// Tests of the parser and the evaluation of label selectors.
import { expect } from 'chai';
import { type Labels, parseLabelSelector } from '../../../../../apis/meta/v1/label-selector.ts';

/**
 * A label selector with nine requirements. Selectors with more than eight keys are evaluated label by label, not key by
 * key.
 */
const NINE_ABSENT = Array.from({ length: 9 }, (_, i) => `!absent${i}`).join(',');

describe('parseLabelSelector', () => {
  const labels: Labels = {
    zone: 'x',
    tier: '',
    count: '7',
    'example.com/role': 'db',
    in: 'notin',
    huge: '9999999999999999999',
  };

  for (const [text, matches] of [
    ['', true],
    ['zone', true],
    ['!zone', false],
    ['absent', false],
    ['!absent', true],
    ['! absent', true],
    ['zone=x', true],
    ['zone==x', true],
    ['zone = x', true],
    ['zone=y', false],
    ['zone!=x', false],
    ['zone!=y', true],
    ['absent!=y', true],
    ['absent=y', false],
    ['tier=', true],
    ['tier!=', false],
    ['zone=', false],
    ['zone in (x,y)', true],
    ['zone in ( y , x )', true],
    ['zone in (y)', false],
    ['zone in (a,b,c,d,e,x)', true],
    ['zone notin (a,b,c,d,e,x)', false],
    ['zone in (a,b,c,d,e)', false],
    ['zone notin (y)', true],
    ['zone notin (x,y)', false],
    ['absent notin (x)', true],
    ['absent in (x)', false],
    ['tier in ()', true],
    ['tier in (,a)', true],
    ['count>6', true],
    ['count>7', false],
    ['count<8', true],
    ['count>6,count>5,count<8,count<9', true],
    ['count>6,count>7', false],
    ['count<8,count<7', false],
    ['count>00000000000000000000006', true],
    ['huge>1', false],
    ['zone=x,zone in (x,y),zone!=y', true],
    ['zone=x,zone=y', false],
    ['zone,!zone', false],
    ['absent,!absent', false],
    ['zone,zone!=x', false],
    [`zone=x,count>6,${NINE_ABSENT}`, true],
    [`zone=y,${NINE_ABSENT}`, false],
    [`zone!=x,${NINE_ABSENT}`, false],
    [`absent,${NINE_ABSENT}`, false],
    [`constructor,${NINE_ABSENT}`, false],
    [`zone,tier,!count,${NINE_ABSENT}`, false],
    ['zone>1', false],
    ['absent<1', false],
    ['example.com/role=db', true],
    ['zone=x,tier=,count', true],
    ['zone=x,tier=a', false],
    ['in=notin', true],
    ['in in (in,notin)', true],
    ['constructor', false],
    ['__proto__!=x', undefined],
  ] as const) {
    it(`${matches === undefined ? 'rejects' : matches ? 'matches' : 'excludes'} an object by '${text}'`, () => {
      if (matches === undefined) expect(() => parseLabelSelector(text)).to.throw('name part must consist');
      else expect(parseLabelSelector(text).matches(labels)).to.equal(matches);
    });
  }

  for (const [text, message] of [
    ['zone=x,', "found '', expected: identifier after ','"],
    [',', "found ',', expected: !, identifier, or 'end of string'"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (b,', "unable to parse requirement: found '', expected: ',', or identifier"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a=b\u00a0', 'unable to parse requirement: values[0][a]: Invalid value: "b\\u00a0"'],
    ['zone\u2003', 'unable to parse requirement: <nil>: Invalid value: "zone\\u2003"'],
    [
      'a in\u00a0(b)',
      "unable to parse requirement: found 'in\u00a0', expected: in, notin, =, ==, !=, gt, lt",
    ],
    ['a>b', "for 'Gt', 'Lt' operators, the value must be an integer"],
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['-a', 'unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of'],
    [
      'a=b_',
      'unable to parse requirement: values[0][a]: Invalid value: "b_": a valid label must be an empty string',
    ],
    ['a'.repeat(64), 'name part must be no more than 63 bytes'],
    [`a=${'b'.repeat(64)}`, 'must be no more than 63 bytes'],
    ['/a', 'prefix part must be non-empty'],
    ['UPPER.case/a', 'prefix part a lowercase RFC 1123 subdomain must consist of'],
    ['a/b/c', "with an optional DNS subdomain prefix and '/'"],
  ] as const) {
    it(`reports the error in '${text.slice(0, 20)}'`, () => {
      expect(() => parseLabelSelector(text)).to.throw(message);
    });
  }

  for (const requirement of ['!k#', 'k#!=x', 'count<1#', 'zone!=v#', 'zone notin (v#)']) {
    it(`matches in constant time for many '${requirement}'`, () => {
      const text = Array.from({ length: 1000 }, (_, i) => requirement.replace('#', String(i))).join(',');
      let looks = 0;
      const watched = new Proxy(labels, {
        getOwnPropertyDescriptor: (target, key) => {
          looks++;
          return Reflect.getOwnPropertyDescriptor(target, key);
        },
        get: (target, key) => {
          looks++;
          return Reflect.get(target, key);
        },
      });
      expect(parseLabelSelector(text).matches(watched)).to.equal(true);
      expect(looks).to.be.at.most(20);
    });
  }

  it('reports a limited number of invalid values', () => {
    const text = `a in (${Array.from({ length: 50_000 }, (_, i) => `-${i}`).join(',')})`;
    const errorText = (): string => {
      try {
        parseLabelSelector(text);
        return '';
      } catch (error) {
        return String(error);
      }
    };
    expect(errorText()).to.include('Invalid value: "-0"').and.have.length.below(10_000);
  });

  it('parses in linear time', () => {
    // A parser that takes quadratic time would exceed the timeout of the test.
    const long = `k in (${Array.from({ length: 500_000 }, (_, index) => `v${index}`).join(',')})`;
    expect(parseLabelSelector(long).requirements[0]?.values).to.have.length(500_000);
  });

  it('stops at the limit of requirements and at an error', () => {
    const begin = Array.from({ length: 1_001 }, (_, index) => `k${index}`).join(',');
    expect(parseLabelSelector(`${begin},k,)`).requirements).to.have.length(1_001);
    expect(() => parseLabelSelector(`a,),${'a,'.repeat(10_000_000)}`)).to.throw(
      "found ')', expected: identifier after ','",
    );
  });
});
