// Tests of the password policy.
import { expect } from 'chai';
import { PASSWORD_LENGTH } from '../../../../../server/oauth/passwords/password-hasher.ts';
import { passwordViolations } from '../../../../../server/oauth/passwords/password-policy.ts';

describe('the password policy', () => {
  const good = [
    'correct horse',
    'pässwörd',
    '12345678',
    'x'.repeat(PASSWORD_LENGTH.max - 4) + 'abcd',
    '🐎🔋📎🪙🐎🔋📎🪙',
  ];
  for (const password of good) {
    it(`accepts ${password.slice(0, 20)}`, () => {
      expect(passwordViolations(password, 'ada')).to.deep.equal([]);
    });
  }

  const bad: readonly [string, RegExp][] = [
    ['', /at least 8/],
    ['1234567', /at least 8/],
    ['🐎🔋📎🪙', /at least 8/],
    ['abcabcabcabc', /4 different/],
    [`abcd${'x'.repeat(PASSWORD_LENGTH.max)}`, /at most 1024/],
    ['with\nnewline', /control/],
    ['with\0null', /control/],
    ['\ud800abcdefgh', /control/],
    ['Ada-Lovelace', /must not be the user name/],
  ];
  for (const [password, why] of bad) {
    it(`rejects ${JSON.stringify(password.slice(0, 20))}`, () => {
      expect(passwordViolations(password, 'ada-lovelace').join()).to.match(why);
    });
  }
});
