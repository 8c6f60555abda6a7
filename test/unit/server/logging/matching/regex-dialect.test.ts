import { expect } from 'chai';
import { RE2JS } from 're2js';
import { toRE2 } from '../../../../../server/logging/matching/re2.ts';
import { parsePattern } from '../../../../../server/logging/matching/regex-dialect.ts';

const REFUSED: readonly (readonly [pattern: string, reason: RegExp])[] = [
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
  ['(a{100}){100}', /more than 1000 repetitions \(a\{100\}\) is not supported/],
  ['(.{0,1000}){0,1}'.repeat(2), /more than 1000 characters after expansion of repetitions/],
  ['a{600}b{600}', /more than 1000 characters/],
  ['(){500}(|){300}', /more than 1000 characters/],
  [`${'a'.repeat(990)}[bc]{11}`, /more than 1000 characters/],
  ['a[', /Unterminated character class/],
  ['f(x', /Unterminated group/],
  ['a)', /Unmatched/],
  ['[z-a]', /Range out of order/],
  ['[\\d-z]', /Invalid character class/],
  ['a{2,1}', /numbers out of order/],
  ['\\p{Foo}', /a Unicode property \(\\p\) is not supported/],
  ['\\u00', /Invalid unicode escape/],
  ['(?<1>a)', /Invalid capture group name/],
  ['(?<n>a)(?<n>b)', /Duplicate capture group name/],
  ['(a)\\k', /a backreference \(\\k\)/],
  ['(a)\\k<n>', /Invalid named/],
  ['[]', /an empty set/],
  ['foo\\h', /the escape \\h is not supported/],
  ['a\\1', /a backreference \(\\1\) is not supported/],
  ['a\\', /a backslash at the end/],
  ['(?i)a', /flags in the pattern \(\(\?i\)\) are not supported; use the parameter case/],
  ['(?P<n>a)', /a named group \(\(\?P<n>a\)\)/],
  ['(?>a)', /the group \(\?>a\) is not supported/],
  ['{"a":1}', /escape brackets/],
  ['[[:digit:]]', /a named set \(\[:digit:\]\) is not supported/],
  ['*foo', /has nothing to repeat/],
  ['a++', /has nothing to repeat/],
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
  // Unnecessary escapes.
  ['^a\\-b\\"\\:\\@\\_\\ $', 'a-b":@_ ', 'a+b":@_ '],
  ['^[a\\-z\\"]+$', 'a-z"', 'b'],
  ['^\\\\-$', '\\-', '-'],
];

describe('the regular expressions of the API', () => {
  for (const [pattern, reason] of REFUSED) {
    it(`reject ${pattern}`, () => {
      expect(() => parsePattern(pattern)).to.throw(Error, reason);
    });
  }

  for (const [pattern, found, missed] of READ) {
    it(`match the same lines in RE2: ${pattern}`, () => {
      const re2 = RE2JS.compile(toRE2(parsePattern(pattern), { ignoreCase: false }));
      expect(re2.test(found)).to.equal(true);
      expect(re2.test(missed)).to.equal(false);
    });
  }

  it('have sets without overlapping ranges', () => {
    const repeated = parsePattern(`[${'\\W'.repeat(480)}a-ca-za]`);
    expect(repeated).to.deep.equal(parsePattern('[\\Wa-z]'));
  });

  for (const set of [
    '\\Wk',
    '^\\wſ',
    'a-z',
    '^a-z',
    '^K',
    'σ',
    '\\x{0}-ÿ',
    'Ā-\u{10428}',
    '\\w\\W',
    'Ꙁ-ꙟ',
    '^ǆ',
  ]) {
    it(`fold the set [${set}] as RE2 does`, () => {
      const pattern = parsePattern(`^[${set.replace('\\x{0}', '\\0')}]$`);
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

  it('print folded sets without the case flag', () => {
    const pattern = parsePattern('x[a-k][^\\w]\\W');
    expect(toRE2(pattern, { ignoreCase: true })).to.equal(
      'x(?-i:[A-Ka-k\u212a])(?-i:[^0-9A-Z\\x{5f}a-zſ\u212a])(?-i:[^0-9A-Z\\x{5f}a-zſ\u212a])',
    );
  });
});
