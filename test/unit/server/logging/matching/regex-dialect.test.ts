import { expect } from 'chai';
import { RE2JS } from 're2js';
import { toRE2 } from '../../../../../server/logging/matching/re2.ts';
import { parsePattern } from '../../../../../server/logging/matching/regex-dialect.ts';

const REFUSED: readonly (readonly [pattern: string, reason: RegExp])[] = [
  ['a??', /lazy/],
  ['(?=a)', /looking around/],
  ['(?<!a)b', /looking around/],
  ['\\bfoo', /word boundary/],
  ['(?<n>a)', /a group with a name/],
  ['(a)\\1', /a reference to a group/],
  ['(?i:a)', /a group with flags/],
  ['\\p{L}', /a Unicode property/],
  ['a^b', /an anchor within the pattern/],
  ['(^a)', /an anchor within the pattern/],
  ['(a{100}){100}', /repeating more than 1000 times \(a\{100\}\) is not supported/],
  ['(.{0,1000}){0,1}'.repeat(2), /more than 1000 characters, with its repetitions written out/],
  ['a{600}b{600}', /more than 1000 characters/],
  ['(){500}(|){300}', /more than 1000 characters/],
  [`${'a'.repeat(990)}[bc]{11}`, /more than 1000 characters/],
  ['a[', /a set begins with \[ and does not end; \\\[ is the character/],
  ['f(x', /a group begins with \( and does not end; \\\( is the character/],
  ['a)', /a group ends with \) and has not begun; \\\) is the character/],
  ['[z-a]', /a range in a set ends before its beginning/],
  ['[\\d-z]', /a range in a set has an end that is no character; \\- is the character/],
  ['a{2,1}', /a repetition \{m,n\} wants more at least than at most/],
  ['\\p{Foo}', /a Unicode property \(\\p\) is not supported/],
  ['\\u00', /\\u needs four hexadecimal digits/],
  ['(?<1>a)', /a group with a name/],
  ['(?<n>a)(?<n>b)', /a group with a name/],
  ['(a)\\k', /a reference to a group \(\\k\)/],
  ['(a)\\k<n>', /a reference to a group \(\\k\)/],
  ['[]', /an empty set/],
  ['foo\\h', /the escape \\h is not supported/],
  ['a\\1', /a reference to a group \(\\1\) is not supported/],
  ['a\\', /a backslash at the end/],
  ['(?i)a', /flags within the pattern \(\(\?i\)\) are not supported; the parameter case/],
  ['(?P<n>a)', /a group with a name \(\(\?P<n>a\)\)/],
  ['(?>a)', /such a group \(\(\?>a\)\)/],
  ['{"a":1}', /has to be escaped/],
  ['[[:digit:]]', /a set by name \(\[:digit:\]\) is not supported/],
  ['*foo', /nothing before it to repeat/],
  ['a++', /nothing before it to repeat/],
];

const READ: readonly (readonly [pattern: string, found: string, missed: string])[] = [
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
  // Escapes that nobody needs, and everybody writes.
  ['^a\\-b\\"\\:\\@\\_\\ $', 'a-b":@_ ', 'a+b":@_ '],
  ['^[a\\-z\\"]+$', 'a-z"', 'b'],
  ['^\\\\-$', '\\-', '-'],
];

describe('the regular expressions of callers', () => {
  for (const [pattern, reason] of REFUSED) {
    it(`do not include ${pattern}`, () => {
      expect(() => parsePattern(pattern)).to.throw(Error, reason);
    });
  }

  for (const [pattern, found, missed] of READ) {
    it(`mean in RE2 what they say: ${pattern}`, () => {
      const re2 = RE2JS.compile(toRE2(parsePattern(pattern)));
      expect(re2.test(found)).to.equal(true);
      expect(re2.test(missed)).to.equal(false);
    });
  }
});
