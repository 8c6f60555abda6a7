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
  it('names each violation', () => {
    for (const password of good) expect(passwordViolations(password, 'ada'), password).to.deep.equal([]);
    for (const [password, why] of bad) {
      expect(passwordViolations(password, 'ada-lovelace').join(), password).to.match(why);
    }
  });
});
