// Tests of the parser of the regular expressions in log queries.
import { expect } from 'chai';
import { RE2JS } from 're2js';
import { toRE2 } from '../../../../../server/logging/matching/re2.ts';
import { parsePattern } from '../../../../../server/logging/matching/regex-dialect.ts';

const INVALID: readonly (readonly [pattern: string, reason: RegExp])[] = [
  ['a??', /lazy/],
  ['(?=a)', /lookaround/],
  ['(?<!a)b', /lookaround/],
  ['\\bfoo', /word boundary/],
  ['(?<n>a)', /a named group/],
  ['(a)\\1', /a backreference/],
  ['(?i:a)', /a group with flags/],
  ['\\p{L}', /a Unicode property/],
  ['a^b', /an anchor within the pattern/],
  ['(^a)', /an anchor within the pattern/],
  ['(a{100}){100}', /more than 1000 characters after expansion of repetitions/],
  ['(){500}(|){300}', /more than 1000 characters/],
  ['a{1001,}', /more than 1000 characters/],
  [`${'a'.repeat(990)}[bc]{11}`, /more than 1000 characters/],
  ['a[', /Unterminated character class near "a\["/],
  ['[z-a]', /Range out of order/],
  ['a{2,1}', /numbers out of order/],
  ['\\p{Foo}', /Invalid property name/],
  ['(a)\\k<n>', /Invalid named/],
  ['[]', /an empty set/],
  ['foo\\h', /Invalid escape near "foo\\h"/],
  ['(?i)a', /Invalid group near "\(\?i\)a"/],
  ['{"a":1}', /Lone quantifier brackets near/],
  ['*foo', /Nothing to repeat near/],
];

const VALID: readonly (readonly [pattern: string, matching: string, other: string])[] = [
  ['a(b|c)*d{2,3}[^x-z]\\d+', 'acbdd_1', 'addx1'],
  ['^a|b$', 'xb', 'xa'],
  ['\\.\\*\\\\', '.*\\', 'x*\\'],
  ['[\\w.-]+@[\\D]', 'a.b-c@d', '@1'],
  ['\\S\\s\\W', 'a !', 'ab!'],
  ['[^\\S]x', ' x', 'ax'],
  ['é{2}', 'éé', 'é'],
  ['a{3,}', 'aaaa', 'aa'],
  [`^${'a'.repeat(990)}[bc]{10}$`, `${'a'.repeat(990)}bcbcbcbcbc`, 'aaa'],
  ['^(\\d{1,3}\\.){3}\\d{1,3}(:\\d{1,5})?$', '10.0.0.1:9443', '10.0.1'],
  ['\\u{1f600}', '😀', '😁'],
  // Unnecessary escapes.
  ['^a\\-b\\"\\:\\@\\_\\ $', 'a-b":@_ ', 'a+b":@_ '],
  ['^[a\\-z\\"]+$', 'a-z"', 'b'],
  ['^\\\\-$', '\\-', '-'],
];

describe('the regular expressions of the API', () => {
  for (const [pattern, reason] of INVALID) {
    it(`reject ${pattern}`, () => {
      expect(() => parsePattern(pattern)).to.throw(Error, reason);
    });
  }

  for (const [pattern, matching, other] of VALID) {
    it(`match the same lines in RE2: ${pattern}`, () => {
      const re2 = RE2JS.compile(toRE2(parsePattern(pattern), { ignoreCase: false }));
      expect(re2.test(matching)).to.equal(true);
      expect(re2.test(other)).to.equal(false);
    });
  }

  for (const set of ['\\Wk', '^\\wſ', '^K', 'Ā-\u{10428}']) {
    it(`fold the set [${set}] as RE2 does`, () => {
      const pattern = parsePattern(`^[${set}]$`);
      const [own, of2] = [true, false].map((ignoreCase) =>
        RE2JS.compile(toRE2(pattern, { ignoreCase }), RE2JS.CASE_INSENSITIVE),
      );
      const different: string[] = [];
      for (let code = 0; code < 0x1e950; code++) {
        const character = String.fromCodePoint(code);
        if (code >= 0xd800 && code < 0xe000) continue;
        if (own?.test(character) !== of2?.test(character)) different.push(character);
      }
      expect(different).to.deep.equal([]);
    });
  }
});
