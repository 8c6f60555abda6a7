// Tests of JSON error messages for parity with Go's encoding/json.
import { expect } from 'chai';
import { jsonError } from '../../../../apis/reading/go-json.ts';

/** Invalid JSON texts with the error messages of encoding/json in Go 1.26. */
const INVALID: readonly (readonly [text: string, message: string])[] = [
  ['', 'unexpected end of JSON input'],
  ['{"a":', 'unexpected end of JSON input'],
  ['["a', 'unexpected end of JSON input'],
  ['nonsense', "invalid character 'o' in literal null (expecting 'u')"],
  ['tru', "invalid character ' ' in literal true (expecting 'e')"],
  ['[fals]', "invalid character ']' in literal false (expecting 'e')"],
  ['{}x', "invalid character 'x' after top-level value"],
  ['01', "invalid character '1' after top-level value"],
  ["'a'", "invalid character '\\'' looking for beginning of value"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['{1:2}', "invalid character '1' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a"=1}', "invalid character '=' after object key"],
  ['{"a":1]', "invalid character ']' after object key:value pair"],
  ['[1 "2"]', `invalid character '"' after array element`],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['-', "invalid character ' ' in numeric literal"],
  ['1.e3', "invalid character 'e' after decimal point in numeric literal"],
  ['1e+', "invalid character ' ' in exponent of numeric literal"],
  ['\u0007', "invalid character '\\a' looking for beginning of value"],
  ['\u0001', "invalid character '\\x01' looking for beginning of value"],
  ['\u00ff', "invalid character 'ÿ' looking for beginning of value"],
  ['\u0085', "invalid character '\\u0085' looking for beginning of value"],
  ['['.repeat(10_001), "invalid character '[' exceeded max depth"],
];

describe('jsonError', () => {
  for (const [text, message] of INVALID) {
    it(`reports the first error in ${JSON.stringify(text.slice(0, 20))}`, () => {
      expect(jsonError(Buffer.from(text, 'latin1'))).to.equal(message);
    });
  }

  it('returns undefined for JSON', () => {
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    for (const text of [' {"a":[1,-0.5e+3,{}],"b\\u00e9\\n":[]} ', 'null', '"Zoë"', '-0', deep]) {
      expect(jsonError(Buffer.from(text)), text.slice(0, 40)).to.equal(undefined);
    }
  });
});
