// Tests of the evaluation of label selectors. The integration tests compare the errors of the parser with
// kube-apiserver.
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

  const matching = [
    ...['', 'zone', '!absent', '! absent', 'zone=x', 'zone==x', 'zone = x', 'zone!=y', 'absent!=y', 'tier='],
    ...['zone in (x,y)', 'zone in ( y , x )', 'zone in (a,b,c,d,e,x)', 'zone notin (y)', 'absent notin (x)'],
    ...['tier in ()', 'tier in (,a)', 'count>6', 'count<8', 'count>6,count>5,count<8,count<9'],
    ...['count>00000000000000000000006', 'zone=x,zone in (x,y),zone!=y', 'example.com/role=db'],
    ...['zone=x,tier=,count', 'in=notin', 'in in (in,notin)', `zone=x,count>6,${NINE_ABSENT}`],
  ];
  const excluding = [
    ...['!zone', 'absent', 'zone=y', 'zone!=x', 'absent=y', 'tier!=', 'zone=', 'zone in (y)'],
    ...['zone in (a,b,c,d,e)', 'zone notin (a,b,c,d,e,x)', 'zone notin (x,y)', 'absent in (x)', 'count>7'],
    ...['count>6,count>7', 'count<8,count<7', 'huge>1', 'zone=x,zone=y', 'zone,!zone', 'absent,!absent'],
    ...['zone,zone!=x', 'zone>1', 'absent<1', 'zone=x,tier=a', 'constructor', `zone=y,${NINE_ABSENT}`],
    ...[`zone!=x,${NINE_ABSENT}`, `absent,${NINE_ABSENT}`, `constructor,${NINE_ABSENT}`],
    `zone,tier,!count,${NINE_ABSENT}`,
  ];
  it('matches or excludes an object as kube-apiserver does', () => {
    for (const text of matching) expect(parseLabelSelector(text).matches(labels), text).to.equal(true);
    for (const text of excluding) expect(parseLabelSelector(text).matches(labels), text).to.equal(false);
  });

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

  it('matches an object with many labels in a time that depends on the selector only', () => {
    const many = Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`label-${i}`, 'x']));
    let looks = 0;
    const watched = new Proxy(many, {
      getOwnPropertyDescriptor: (target, key) => {
        looks++;
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
    });
    const selector = parseLabelSelector(Array.from({ length: 20 }, (_, i) => `!k${i}`).join(','));
    // The labels are counted once.
    for (let i = 0; i < 100; i++) expect(selector.matches(watched)).to.equal(true);
    expect(looks).to.be.at.most(40_000 + 100 * 20);
  });

  it('reports a limited number of invalid values', () => {
    const text = `a in (${Array.from({ length: 1_000 }, (_, i) => `-${'x'.repeat(100)}${i}`).join(',')})`;
    const errorText = (): string => {
      try {
        parseLabelSelector(text);
        return '';
      } catch (error) {
        return String(error);
      }
    };
    expect(errorText()).to.include('Invalid value: "-xxx').and.have.length.below(10_000);
  });

  it('stops at the limits of requirements and values, and at an error', () => {
    expect(() => parseLabelSelector(`a in (${'b,'.repeat(2_000_000)},)`)).to.throw('more than 1000 values');
    const begin = Array.from({ length: 1_001 }, (_, index) => `k${index}`).join(',');
    expect(parseLabelSelector(`${begin},k,)`).requirements).to.have.length(1_001);
    expect(() => parseLabelSelector(`a,),${'a,'.repeat(2_000_000)}`)).to.throw(
      "found ')', expected: identifier after ','",
    );
  });
});
