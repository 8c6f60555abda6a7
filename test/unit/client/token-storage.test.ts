// Tests of tokens in the storage of a browser, to which every script of the origin can write.
import { expect } from 'chai';
import { TokenStorage } from '../../../client/token-storage.ts';

const KEY = 'tokens';
const idToken = (claims: string): string => `e30.${Buffer.from(claims).toString('base64url')}.x`;
const TOKENS = { accessToken: 'A', idToken: idToken('{"sub":"vera"}'), validUntil: 1 };

function storageWith(text: string): TokenStorage {
  const storage = { getItem: () => text };
  return new TokenStorage(storage as Partial<Storage> as Storage, KEY);
}

describe('the token storage', () => {
  it('reads the tokens that it has written', () => {
    expect(storageWith(JSON.stringify(TOKENS)).read()).to.deep.equal(TOKENS);
  });

  it('takes anything else for no tokens, so that the user can sign in', () => {
    const others = [
      '',
      'null',
      '[]',
      '{"__proto__":{}}',
      JSON.stringify({ ...TOKENS, accessToken: 1 }),
      ...['', 'x', 'e30.e30.x', idToken('null'), idToken('{"sub":{}}'), 'e30.%%%.x'].map((invalid) =>
        JSON.stringify({ ...TOKENS, idToken: invalid }),
      ),
    ];
    for (const text of others) expect(storageWith(text).read(), text).to.equal(undefined);
  });
});
